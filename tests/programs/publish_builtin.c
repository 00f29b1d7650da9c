// SPDX-License-Identifier: Apache-2.0
// The old built-in functions are full barriers: publication by compare-and-swap.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static int ready, message;

static void *send(void *unused) {
    message = 7;
    __sync_lock_test_and_set(&ready, 0);
    __sync_fetch_and_add(&ready, 1);
    return unused;
}

static void *receive(void *unused) {
    if (__sync_val_compare_and_swap(&ready, 1, 2) == 1)
        assert(message == 7);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
