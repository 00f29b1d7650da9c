// SPDX-License-Identifier: Apache-2.0
// A handler ends a blocking call with EINTR, unless it was set to restart; one may jump away.
#include "check.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

static sem_t never;
static int ends[2];
static atomic_int handled, done;
static _Thread_local sigjmp_buf away;
static _Thread_local atomic_int may_jump;

static void note(int number) {
    (void)number;
    handled++;
}

static void jump(int number) {
    (void)number;
    if (may_jump)
        siglongjmp(away, 1);
}

static void set(int number, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void in_read(void) {
    char byte;
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
}

static void in_poll(void) {
    struct pollfd one = {ends[0], POLLIN, 0};
    CHECK(poll(&one, 1, -1) == -1 && errno == EINTR);
}

static void in_sem_wait(void) {
    CHECK(sem_wait(&never) == -1 && errno == EINTR);
}

static void in_sem_timedwait(void) {
    struct timespec when;
    CHECK(clock_gettime(CLOCK_REALTIME, &when) == 0);
    when.tv_sec += 3600;
    CHECK(sem_timedwait(&never, &when) == -1 && errno == EINTR);
}

static void in_nanosleep(void) {
    struct timespec hour = {3600, 0}, left = {0, 0};
    CHECK(nanosleep(&hour, &left) == -1 && errno == EINTR);
    CHECK(left.tv_sec > 0 && left.tv_sec <= 3600);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, &left) == EINTR);
}

static void in_read_left_by_jump(void) {
    char byte;
    if (sigsetjmp(away, 1) == 0) {
        may_jump = 1;
        read(ends[0], &byte, 1);
        CHECK(!"jumped");
    }
    may_jump = 0;
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR2) == 0);
}

static void *run(void *function) {
    (*(void (**)(void))function)();
    done = 1;
    return NULL;
}

// Until the call was really interrupted: before it blocks, a handler just runs.
static void interrupt(void (*function)(void), int number) {
    pthread_t thread;
    done = 0;
    CHECK(pthread_create(&thread, NULL, run, &function) == 0);
    while (!done) {
        CHECK(pthread_kill(thread, number) == 0);
        sched_yield();
    }
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *reads(void *unused) {
    (void)unused;
    char byte = 0;
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    done = 1;
    return NULL;
}

static void restarts(void) {
    pthread_t thread;
    handled = done = 0;
    set(SIGUSR1, note, SA_RESTART);
    CHECK(pthread_create(&thread, NULL, reads, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        sched_yield();
    }
    CHECK(!done);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(handled >= 1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int woken;

static void *waits(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!woken)
        CHECK(pthread_cond_wait(&condition, &mutex) == 0); // never EINTR
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void never_interrupted(void) {
    pthread_t thread;
    set(SIGUSR1, note, 0);
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        sched_yield();
    }
    pthread_mutex_lock(&mutex);
    woken = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
    sem_init(&never, 0, 0);
    CHECK(pipe(ends) == 0);
    set(SIGUSR1, note, 0);
    set(SIGUSR2, jump, 0);
    interrupt(in_read, SIGUSR1);
    interrupt(in_poll, SIGUSR1);
    interrupt(in_sem_wait, SIGUSR1);
    interrupt(in_nanosleep, SIGUSR1);
    interrupt(in_read_left_by_jump, SIGUSR2);
    set(SIGUSR1, note, SA_RESTART); // which these do not
    interrupt(in_sem_timedwait, SIGUSR1);
    interrupt(in_nanosleep, SIGUSR1);
    interrupt(in_poll, SIGUSR1);
    set(SIGUSR1, note, 0);
    interrupt(in_sem_timedwait, SIGUSR1);
    restarts();
    never_interrupted();
    return 0;
}
