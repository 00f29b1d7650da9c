// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders, but the second thread starts when the first has ended.
// EXPECT: nothing
#include "together.h"

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
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
    TOGETHER(forward);
    TOGETHER(backward);
    return 0;
}
