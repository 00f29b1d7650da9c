// SPDX-License-Identifier: Apache-2.0
// A third thread stores the flag anew with relaxed: who reads that has acquired nothing.
// EXPECT: data-race message A B
#include "together.h"
#include <stdatomic.h>

static atomic_int ready;
static int message, seen;

static void *send(void *unused) {
    message = 7; // A
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

static void *pass_on(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed) == 1)
        atomic_store_explicit(&ready, 2, memory_order_relaxed);
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
        seen = message; // B
    return unused;
}

int main(void) {
    TOGETHER(send, pass_on, receive);
    return 0;
}
