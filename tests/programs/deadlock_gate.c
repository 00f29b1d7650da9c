// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders, but always under a third: they never meet.
// EXPECT: nothing
#include "together.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, left = PTHREAD_MUTEX_INITIALIZER,
                       right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    pthread_mutex_unlock(&gate);
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
