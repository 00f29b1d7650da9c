// SPDX-License-Identifier: Apache-2.0
// Ends that ask nobody: abort, quick_exit, _exit, a signal and a fault, each in a thread.
#include "death.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t never;
static int quick;

static void quick_first(void) {
    quick = 1;
}

static void quick_last(void) {
    if (!quick)
        _exit(60);
}

static void at_exit(void) {
    _exit(61); // nobody calls exit
}

static void *aborts(void *unused) {
    (void)unused;
    abort();
}

static void *leaves_quickly(void *unused) {
    (void)unused;
    quick_exit(4);
}

static void *leaves_at_once(void *unused) {
    (void)unused;
    _exit(3);
}

static void *is_killed(void *unused) {
    raise(SIGTERM);
    return unused;
}

static void *faults(void *unused) {
    *(volatile int *)16 = 1;
    return unused;
}

static void *(*how)(void *);

static void do_it(void) {
    pthread_t thread;
    sem_init(&never, 0, 0);
    atexit(at_exit);
    at_quick_exit(quick_last);
    at_quick_exit(quick_first);
    CHECK(pthread_create(&thread, NULL, how, NULL) == 0);
    sem_wait(&never);
}

static int end_by(void *(*function)(void *)) {
    how = function;
    return end_of(do_it);
}

int main(void) {
    int status = end_by(aborts);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    status = end_by(leaves_quickly);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    status = end_by(leaves_at_once);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    status = end_by(is_killed);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    status = end_by(faults);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    return 0;
}
