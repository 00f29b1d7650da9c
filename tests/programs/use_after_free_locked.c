// SPDX-License-Identifier: Apache-2.0
// Use and free are under one lock, so there is no data race; but the free may come first.
// EXPECT: memory-error - A B
#include "together.h"
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;

static void *use(void *unused) {
    pthread_mutex_lock(&lock);
    block[0] = 1; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *end(void *unused) {
    pthread_mutex_lock(&lock);
    free(block); // B
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    block = malloc(64);
    TOGETHER(use, end);
    return 0;
}
