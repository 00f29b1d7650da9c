// SPDX-License-Identifier: Apache-2.0
// Two variables that belong together, each under its own lock.
// EXPECT: failure SIGABRT
// MAY: atomicity start, because start and end belong together
// MAY: atomicity end, for the same reason
#include "together.h"
#include <assert.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int start, end = 1;

static void set(pthread_mutex_t *lock, int *variable, int value) {
    pthread_mutex_lock(lock);
    *variable = value;
    pthread_mutex_unlock(lock);
}

static int get(pthread_mutex_t *lock, int *variable) {
    pthread_mutex_lock(lock);
    int value = *variable;
    pthread_mutex_unlock(lock);
    return value;
}

static void *move(void *unused) {
    set(&first, &start, 10);
    set(&second, &end, 11);
    return unused;
}

static void *look(void *unused) {
    int from = get(&first, &start);
    int to = get(&second, &end);
    assert(from < to);
    return unused;
}

int main(void) {
    TOGETHER(move, look);
    return 0;
}
