// SPDX-License-Identifier: Apache-2.0
// Two threads wait on one condition at the same time, each with a mutex of its own.
// EXPECT: lock-misuse changed A
#include "together.h"
#include <stdatomic.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void wait_with(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    while (!atomic_load(&ready))
        pthread_cond_wait(&changed, lock); // A
    pthread_mutex_unlock(lock);
}

static void *one(void *unused) {
    wait_with(&locks[0]);
    return unused;
}

static void *other(void *unused) {
    wait_with(&locks[1]);
    return unused;
}

static void *wake(void *unused) {
    pthread_mutex_lock(&locks[0]);
    pthread_mutex_lock(&locks[1]);
    atomic_store(&ready, 1);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&locks[1]);
    pthread_mutex_unlock(&locks[0]);
    return unused;
}

int main(void) {
    TOGETHER(one, other, wake);
    return 0;
}
