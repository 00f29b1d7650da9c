// SPDX-License-Identifier: Apache-2.0
// A bounded buffer: two conditions, both waited for in loops.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int slot, filled, sum;

static void *produce(void *unused) {
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&lock);
        while (filled)
            pthread_cond_wait(&not_full, &lock);
        slot = i;
        filled = 1;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (!filled)
            pthread_cond_wait(&not_empty, &lock);
        sum += slot;
        filled = 0;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(produce, consume);
    assert(sum == 3);
    return 0;
}
