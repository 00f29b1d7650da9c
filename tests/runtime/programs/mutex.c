// SPDX-License-Identifier: Apache-2.0
// Kinds of mutexes: who may take them again, who may give them back, who waits, and for how long.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int guarded;

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        CHECK(pthread_mutex_lock(&normal) == 0);
        guarded++;
        CHECK(pthread_mutex_unlock(&normal) == 0);
    }
    return NULL;
}

static void excludes(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(guarded == 400);
}

static struct timespec soon(clockid_t clock) {
    struct timespec when;
    clock_gettime(clock, &when);
    when.tv_nsec += 1000000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_nsec -= 1000000000;
        when.tv_sec++;
    }
    return when;
}

static void *try_from_elsewhere(void *unused) {
    (void)unused;
    struct timespec when = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
    CHECK(pthread_mutex_trylock(&normal) == EBUSY);
    CHECK(pthread_mutex_trylock(&recursive) == EBUSY);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
    CHECK(pthread_mutex_unlock(&checking) == EPERM);
    CHECK(pthread_mutex_timedlock(&normal, &when) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(&normal, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    return NULL;
}

static void elsewhere(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, try_from_elsewhere, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void kinds(void) {
    CHECK(pthread_mutex_lock(&normal) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_mutex_trylock(&recursive) == 0);
    CHECK(pthread_mutex_lock(&checking) == 0);
    CHECK(pthread_mutex_lock(&checking) == EDEADLK);
    elsewhere();
    CHECK(pthread_mutex_destroy(&normal) == EBUSY);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_unlock(&recursive) == 0);
    CHECK(pthread_mutex_unlock(&recursive) == EPERM);
    CHECK(pthread_mutex_unlock(&checking) == 0);
    CHECK(pthread_mutex_unlock(&normal) == 0);
    CHECK(pthread_mutex_trylock(&normal) == 0);
    CHECK(pthread_mutex_unlock(&normal) == 0);
    CHECK(pthread_mutex_destroy(&normal) == 0);
}

int main(void) {
    excludes();
    kinds();
    return 0;
}
