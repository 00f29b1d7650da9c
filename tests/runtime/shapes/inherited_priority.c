// SPDX-License-Identifier: Apache-2.0
// Mutexes that lend priority: in chains, robust, timed and recursive, they exclude like any other.
#include "team.h"

#include <errno.h>
#include <time.h>

#define LOCKS 4
static pthread_mutex_t locks[LOCKS];
static long counts[LOCKS];

static void make(pthread_mutex_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
    CHECK(pthread_mutex_init(mutex, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

static void *chains(void *number) {
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < LOCKS; j++)
            CHECK(pthread_mutex_lock(&locks[j]) == 0);
        for (int j = 0; j < LOCKS; j++)
            counts[j]++;
        for (int j = LOCKS; j-- > 0;)
            CHECK(pthread_mutex_unlock(&locks[j]) == 0);
    }
    return number;
}

static void *finds_it_taken(void *mutex) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    CHECK(pthread_mutex_trylock(mutex) == EBUSY);
    CHECK(pthread_mutex_timedlock(mutex, &when) == ETIMEDOUT);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int types[LOCKS] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE,
                        PTHREAD_MUTEX_DEFAULT};
    for (int i = 0; i < LOCKS; i++)
        make(&locks[i], types[i]);
    run_team(4, chains);
    for (int i = 0; i < LOCKS; i++)
        CHECK(counts[i] == 80);
    CHECK(pthread_mutex_lock(&locks[0]) == 0);
    CHECK(pthread_create(&thread, NULL, finds_it_taken, &locks[0]) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_unlock(&locks[0]) == 0);
    return 0;
}
