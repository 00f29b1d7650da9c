// SPDX-License-Identifier: Apache-2.0
// A recursive mutex is taken a hundred thousand times, and given back as often, by each of three.
#include "team.h"

#include <errno.h>

#define DEPTH 20000
static pthread_mutex_t mutex;
static int inside;

static void *goes_deep(void *number) {
    (void)number;
    for (int i = 0; i < DEPTH; i++)
        CHECK((i % 2 ? pthread_mutex_lock : pthread_mutex_trylock)(&mutex) == 0 ||
              (i == 0 && pthread_mutex_lock(&mutex) == 0));
    CHECK(inside++ == 0);
    sched_yield();
    inside--;
    for (int i = 0; i < DEPTH; i++)
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    return NULL;
}

int main(void) {
    pthread_mutexattr_t attributes;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    run_team(3, goes_deep);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
    return 0;
}
