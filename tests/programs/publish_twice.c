// SPDX-License-Identifier: Apache-2.0
// Right for the first message; the second one is written while the reader may read the first.
// EXPECT: data-race message A B
#include "together.h"
#include <stdatomic.h>

static atomic_int ready;
static int message, seen;

static void *send(void *unused) {
    for (int i = 1; i <= 2; i++) {
        message = i; // A
        atomic_store_explicit(&ready, i, memory_order_release);
    }
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_acquire))
        seen = message; // B
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
