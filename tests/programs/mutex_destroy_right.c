// SPDX-License-Identifier: Apache-2.0
// A mutex in a heap block is destroyed by whoever gives it back last, under a count in it.
// EXPECT: nothing
#include "together.h"
#include <stdlib.h>

static struct shared {
    pthread_mutex_t lock;
    int users;
} *shared;

static void *use(void *unused) {
    pthread_mutex_lock(&shared->lock);
    int last = --shared->users == 0;
    pthread_mutex_unlock(&shared->lock);
    if (last) {
        pthread_mutex_destroy(&shared->lock);
        free(shared);
    }
    return unused;
}

int main(void) {
    shared = malloc(sizeof *shared);
    pthread_mutex_init(&shared->lock, NULL);
    shared->users = 2;
    TOGETHER(use, use);
    return 0;
}
