// SPDX-License-Identifier: Apache-2.0
// Three threads: only when the one in the middle comes first is there no chain of locks.
// EXPECT: data-race shared A B
#include "together.h"

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void touch(pthread_mutex_t *lock) {
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

static void *begin(void *unused) {
    shared = 1; // A
    touch(&left);
    return unused;
}

static void *middle(void *unused) {
    touch(&left);
    touch(&right);
    return unused;
}

static void *end(void *unused) {
    touch(&right);
    shared = 2; // B
    return unused;
}

int main(void) {
    TOGETHER(begin, middle, end);
    return 0;
}
