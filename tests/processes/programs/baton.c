// SPDX-License-Identifier: Apache-2.0
// The youngest thread has what all others wait for, each with a time, again and again, as threads
// wait for the lock of an interpreter. It makes calls before it gives it back.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { OTHERS = 3, CALLS = 50, TIME = 5000000 }; // nanoseconds

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static bool given;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    while (!given) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TIME;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&changed, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *give(void *unused) {
    for (int i = 0; i < CALLS; i++)
        if (getppid() < 0)
            return NULL;
    pthread_mutex_lock(&lock);
    given = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t threads[OTHERS + 1];
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    for (int i = 0; i <= OTHERS; i++)
        if (pthread_create(&threads[i], NULL, i < OTHERS ? take : give, NULL) != 0)
            return 1;
    for (int i = 0; i <= OTHERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
