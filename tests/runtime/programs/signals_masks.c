// SPDX-License-Identifier: Apache-2.0
// Each thread has its own mask; a signal to a thread is handled by that thread, when it lets it.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static sem_t ready, go;
static pthread_t handled_by;
static atomic_int handled, value_seen;

static void note(int number, siginfo_t *info, void *context) {
    CHECK(context != NULL && info->si_signo == number);
    handled_by = pthread_self();
    value_seen = info->si_value.sival_int;
    handled++;
}

static void set(int number, int flags, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static sigset_t only(int number) {
    sigset_t result;
    sigemptyset(&result);
    sigaddset(&result, number);
    return result;
}

static bool blocks(int number) {
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    return sigismember(&mask, number) == 1;
}

static bool pends(int number) {
    sigset_t pending;
    CHECK(sigpending(&pending) == 0);
    return sigismember(&pending, number) == 1;
}

static void to_itself(void) {
    handled = 0;
    CHECK(raise(SIGUSR1) == 0);
    CHECK(handled == 1 && pthread_equal(handled_by, pthread_self()));
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
    CHECK(handled == 2);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    CHECK(handled == 3);
    CHECK(pthread_kill(pthread_self(), 0) == 0);
    CHECK(pthread_kill(pthread_self(), 1000) == EINVAL);
    CHECK(raise(1000) == -1 && errno == EINVAL);
}

static void held_back(void) {
    sigset_t one = only(SIGUSR1), old;
    handled = 0;
    CHECK(pthread_sigmask(SIG_BLOCK, &one, &old) == 0);
    CHECK(sigismember(&old, SIGUSR1) == 0);
    CHECK(blocks(SIGUSR1) && !pends(SIGUSR1));
    raise(SIGUSR1);
    raise(SIGUSR1); // one of an ordinary signal is kept
    CHECK(handled == 0 && pends(SIGUSR1));
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
    CHECK(handled == 1 && !pends(SIGUSR1));
    CHECK(pthread_sigmask(99, &one, NULL) == EINVAL);
}

static void queued(void) {
    sigset_t one = only(SIGRTMIN);
    union sigval value;
    handled = 0;
    CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
    for (value.sival_int = 1; value.sival_int <= 3; value.sival_int++)
        CHECK(pthread_sigqueue(pthread_self(), SIGRTMIN, value) == 0);
    CHECK(handled == 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &one, NULL) == 0);
    CHECK(handled == 3 && value_seen == 3); // all of them, in order
    value.sival_int = 42;
    CHECK(sigqueue(getpid(), SIGRTMIN, value) == 0);
    CHECK(handled == 4 && value_seen == 42);
}

static void *own_mask(void *unused) {
    (void)unused;
    sigset_t one = only(SIGUSR2);
    CHECK(blocks(SIGUSR1)); // inherited
    CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
    one = only(SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
    sem_post(&ready);
    while (sem_wait(&go) < 0)
        CHECK(errno == EINTR);
    CHECK(handled == 1 && pthread_equal(handled_by, pthread_self()));
    CHECK(pends(SIGUSR2));
    one = only(SIGUSR2);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
    CHECK(handled == 2 && pthread_equal(handled_by, pthread_self()));
    return NULL;
}

static void to_another(void) {
    pthread_t thread;
    sigset_t one = only(SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
    handled = 0;
    CHECK(pthread_create(&thread, NULL, own_mask, NULL) == 0);
    sem_wait(&ready);
    CHECK(!blocks(SIGUSR2)); // its mask is not ours
    CHECK(pthread_kill(thread, SIGUSR2) == 0);
    CHECK(pthread_kill(thread, SIGUSR1) == 0);
    while (handled < 1)
        sched_yield();
    CHECK(pthread_equal(handled_by, thread));
    sem_post(&go);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
}

static void *takes_for_process(void *unused) {
    (void)unused;
    sigset_t one = only(SIGUSR1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
    sem_post(&ready);
    while (sem_wait(&go) < 0)
        ;
    CHECK(handled == 1 && pthread_equal(handled_by, pthread_self()));
    return NULL;
}

// Only one thread lets it through: that one gets it.
static void to_process(void) {
    pthread_t thread;
    sigset_t one = only(SIGUSR1);
    CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
    handled = 0;
    CHECK(pthread_create(&thread, NULL, takes_for_process, NULL) == 0);
    sem_wait(&ready);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    while (handled < 1)
        sched_yield();
    sem_post(&go);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(kill(getpid(), SIGUSR1) == 0); // nobody takes it
    CHECK(handled == 1 && pends(SIGUSR1));
    CHECK(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0);
    CHECK(handled == 2);
}

static void mask_inside(int number, siginfo_t *info, void *context) {
    (void)info, (void)context;
    CHECK(blocks(number) && blocks(SIGUSR2));
    raise(number);
    CHECK(handled == 0); // until we are through
    handled = 1;
    struct sigaction action;
    CHECK(sigaction(number, NULL, &action) == 0);
    CHECK(action.sa_handler == SIG_DFL);       // SA_RESETHAND
    CHECK(signal(number, SIG_IGN) == SIG_DFL); // also forgets what pends
}

static void in_handler(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = mask_inside;
    action.sa_flags = SA_SIGINFO | (int)SA_RESETHAND;
    action.sa_mask = only(SIGUSR2);
    handled = 0;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(handled == 1 && !blocks(SIGUSR1) && !blocks(SIGUSR2));
    CHECK(raise(SIGUSR1) == 0); // ignored
    CHECK(handled == 1);
    CHECK(sigaction(SIGKILL, &action, NULL) == -1 && errno == EINVAL);
    CHECK(sigaction(0, NULL, &action) == -1 && errno == EINVAL);
    CHECK(sigaction(65, NULL, &action) == -1 && errno == EINVAL);
    CHECK(signal(SIGSTOP, SIG_IGN) == SIG_ERR && errno == EINVAL);
    CHECK(raise(SIGCHLD) == 0 && raise(SIGURG) == 0); // ignored by default
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    set(SIGUSR1, 0, note);
    set(SIGUSR2, 0, note);
    set(SIGRTMIN, SA_RESTART, note);
    to_itself();
    held_back();
    queued();
    to_another();
    to_process();
    in_handler();
    return 0;
}
