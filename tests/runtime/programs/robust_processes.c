// SPDX-License-Identifier: Apache-2.0
// replayed
// Robust mutexes that two processes have, one of which ends with them.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct shared {
    pthread_mutex_t mutex;
    int data;
} *shared;
static int ends[2]; // of a pipe

static void make(void) {
    pthread_mutexattr_t robust;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_mutexattr_init(&robust) == 0);
    CHECK(pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_settype(&robust, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &robust) == 0);
}

static pid_t start(void (*does)(void)) {
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        does();
        _exit(0);
    }
    return child;
}

static void take(void) {
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    shared->data++;
}

static void repair(int error) {
    CHECK(error == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == EPERM);
}

static void takes_and_ends(void) {
    int status;
    char byte;
    pid_t child = start(take);
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 0); // it has ended, and nobody has taken its end
    close(ends[0]);
    repair(pthread_mutex_lock(&shared->mutex));
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(waitpid(start(take), &status, 0) > 0 && status == 0);
    repair(pthread_mutex_trylock(&shared->mutex));
    CHECK(shared->data == 2);
}

static void take_and_rest(void) {
    take();
    CHECK(write(ends[1], "!", 1) == 1);
    pause();
}

static void *kills(void *child) {
    CHECK(kill(*(pid_t *)child, SIGKILL) == 0);
    return NULL;
}

static void is_killed_while_others_wait(void) {
    pthread_t killer;
    int status;
    char byte;
    pid_t child = start(take_and_rest);
    CHECK(read(ends[0], &byte, 1) == 1);
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(pthread_mutex_timedlock(&shared->mutex, &when) == ETIMEDOUT); // it lives
    CHECK(pthread_create(&killer, NULL, kills, &child) == 0);
    repair(pthread_mutex_lock(&shared->mutex));
    CHECK(pthread_join(killer, NULL) == 0);
    CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGKILL);
}

static void does_not_own_it(void) {
    CHECK(pthread_mutex_unlock(&shared->mutex) == EPERM);
    pthread_exit(NULL);
}

static void is_not_the_owner(void) {
    int status;
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    CHECK(waitpid(start(does_not_own_it), &status, 0) > 0 && status == 0);
    CHECK(pthread_mutex_lock(&shared->mutex) == 0); // still ours
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
}

static void is_useless_for_ever(void) {
    int status;
    CHECK(waitpid(start(take), &status, 0) > 0 && status == 0);
    CHECK(pthread_mutex_lock(&shared->mutex) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    CHECK(pthread_mutex_lock(&shared->mutex) == ENOTRECOVERABLE);
}

int main(void) {
    make();
    takes_and_ends();
    is_killed_while_others_wait();
    is_not_the_owner();
    is_useless_for_ever();
    return 0;
}
