// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders, and a counter that races before them and between: that one decides
// nothing.
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    hits++;
    pthread_mutex_lock(first);
    hits++;
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *forwards(void *unused) {
    both(&one, &two);
    return unused;
}

static void *backwards(void *unused) {
    both(&two, &one);
    return unused;
}

int main(void) {
    pthread_t left, right;
    pthread_create(&left, NULL, forwards, NULL);
    pthread_create(&right, NULL, backwards, NULL);
    pthread_join(left, NULL);
    pthread_join(right, NULL);
    return 0;
}
