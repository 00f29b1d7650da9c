// SPDX-License-Identifier: Apache-2.0
// A recursive mutex taken twice and given back once: the other thread waits for ever.
// EXPECT: deadlock lock B
#define _GNU_SOURCE
#include "together.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int counter;

static void *take_twice(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *take(void *unused) {
    pthread_mutex_lock(&lock); // B
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(take_twice, take);
    return 0;
}
