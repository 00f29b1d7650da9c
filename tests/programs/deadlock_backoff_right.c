// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders, but the second is only tried; who does not get it gives up the first.
// EXPECT: nothing
#include "together.h"
#include <sched.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *forward(void *unused) {
    both(&left, &right);
    return unused;
}

static void *backward(void *unused) {
    both(&right, &left);
    return unused;
}

int main(void) {
    TOGETHER(forward, backward);
    return 0;
}
