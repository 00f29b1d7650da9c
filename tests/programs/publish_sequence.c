// SPDX-License-Identifier: Apache-2.0
// A third thread adds to the flag with a relaxed update: it goes on with the release sequence.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static atomic_int ready;
static int message;

static void *send(void *unused) {
    message = 7;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *pass_on(void *unused) {
    int one = 1;
    atomic_compare_exchange_strong_explicit(&ready, &one, 2, memory_order_relaxed,
                                            memory_order_relaxed);
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
        assert(message == 7);
    return unused;
}

int main(void) {
    TOGETHER(send, pass_on, receive);
    return 0;
}
