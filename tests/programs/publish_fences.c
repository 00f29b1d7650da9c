// SPDX-License-Identifier: Apache-2.0
// Relaxed accesses, but with a fence on either side.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static atomic_int ready;
static int message;

static void *send(void *unused) {
    message = 7;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        assert(message == 7);
    }
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
