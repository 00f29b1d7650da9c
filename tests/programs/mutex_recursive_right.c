// SPDX-License-Identifier: Apache-2.0
// A recursive mutex, taken twice by the same thread.
// EXPECT: nothing
#define _GNU_SOURCE
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int counter;

static void add(void) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
}

static void *add_twice(void *unused) {
    pthread_mutex_lock(&lock);
    add();
    add();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(add_twice, add_twice);
    assert(counter == 4);
    return 0;
}
