// SPDX-License-Identifier: Apache-2.0
// A fence on the writer's side alone orders nothing for the reader.
// EXPECT: data-race message A B
#include "together.h"
#include <stdatomic.h>

static atomic_int ready;
static int message, seen;

static void *send(void *unused) {
    message = 7; // A
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        seen = message; // B
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
