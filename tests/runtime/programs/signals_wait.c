// SPDX-License-Identifier: Apache-2.0
// Waiting for signals: sigwait, sigwaitinfo, sigtimedwait, sigsuspend, pause, signalfd.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

static sem_t ready;
static atomic_int handled, through;

static void note(int number) {
    (void)number;
    handled++;
}

static sigset_t only(int number) {
    sigset_t result;
    sigemptyset(&result);
    sigaddset(&result, number);
    return result;
}

static void *waits(void *set) {
    int number = 0;
    sem_post(&ready);
    CHECK(sigwait(set, &number) == 0);
    CHECK(number == SIGTERM);
    through = 1;
    siginfo_t info;
    sem_post(&ready);
    CHECK(sigwaitinfo(set, &info) == SIGTERM);
    CHECK(info.si_signo == SIGTERM && info.si_code == SI_QUEUE && info.si_value.sival_int == 7);
    return NULL;
}

// The usual shape: everybody blocks it, one thread waits for it; there is no handler.
static void with_sigwait(void) {
    static sigset_t term;
    pthread_t thread;
    term = only(SIGTERM);
    CHECK(pthread_sigmask(SIG_BLOCK, &term, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, waits, &term) == 0);
    sem_wait(&ready);
    CHECK(kill(getpid(), SIGTERM) == 0);
    sem_wait(&ready);
    CHECK(through);
    CHECK(pthread_sigqueue(thread, SIGTERM, (union sigval){.sival_int = 7}) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(raise(SIGTERM) == 0); // pends before the wait begins
    int number;
    CHECK(sigwait(&term, &number) == 0 && number == SIGTERM);
}

static void with_limit(void) {
    sigset_t set = only(SIGUSR1);
    struct timespec none = {0, 0}, some = {0, 2000000}, bad = {0, -1};
    siginfo_t info;
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(sigtimedwait(&set, &info, &none) == -1 && errno == EAGAIN);
    CHECK(sigtimedwait(&set, &info, &some) == -1 && errno == EAGAIN);
    CHECK(sigtimedwait(&set, &info, &bad) == -1 && errno == EINVAL);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(sigtimedwait(&set, &info, &none) == SIGUSR1);
    CHECK(info.si_code == SI_USER && info.si_pid == getpid());
    CHECK(raise(SIGUSR1) == 0);
    CHECK(sigtimedwait(&set, NULL, &some) == SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void *suspends(void *unused) {
    (void)unused;
    sigset_t none;
    sigemptyset(&none);
    sem_post(&ready);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
    CHECK(handled == 1);
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2) == 1);
    sem_post(&ready);
    CHECK(sigsuspend(&none) == -1 && errno == EINTR);
    CHECK(handled == 2);
    return NULL;
}

static void with_sigsuspend(void) {
    sigset_t set = only(SIGUSR2);
    pthread_t thread;
    signal(SIGUSR2, note);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, suspends, NULL) == 0);
    sem_wait(&ready);
    CHECK(pthread_kill(thread, SIGUSR2) == 0); // not lost, even if it is not suspended yet
    sem_wait(&ready);
    CHECK(kill(getpid(), SIGUSR2) == 0); // to whoever lets it through
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *pauses(void *unused) {
    (void)unused;
    sem_post(&ready);
    CHECK(pause() == -1 && errno == EINTR);
    through = 1;
    return NULL;
}

static void with_pause(void) {
    sigset_t set = only(SIGUSR2);
    pthread_t thread;
    handled = through = 0;
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, pauses, NULL) == 0);
    sem_wait(&ready);
    while (!through) { // pause has that gap
        CHECK(pthread_kill(thread, SIGUSR2) == 0);
        sched_yield();
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(handled >= 1);
}

static void with_descriptor(void) {
    sigset_t set = only(SIGHUP);
    struct signalfd_siginfo info;
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK(raise(SIGHUP) == 0);
    CHECK(read(fd, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGHUP);
    CHECK(kill(getpid(), SIGHUP) == 0);
    CHECK(read(fd, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGHUP && (pid_t)info.ssi_pid == getpid());
    CHECK(close(fd) == 0);
    sigset_t pending;
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGHUP) == 0);
}

int main(void) {
    sem_init(&ready, 0, 0);
    with_sigwait();
    with_limit();
    with_sigsuspend();
    with_pause();
    with_descriptor();
    return 0;
}
