// SPDX-License-Identifier: Apache-2.0
// A sequence lock: the data is atomic too, and fences keep it between the two looks at the number.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int left, right;

static void *change(void *unused) {
    atomic_store_explicit(&sequence, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&left, 1, memory_order_relaxed);
    atomic_store_explicit(&right, 1, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
    return unused;
}

static void *look(void *unused) {
    unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
    int one = atomic_load_explicit(&left, memory_order_relaxed);
    int two = atomic_load_explicit(&right, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    unsigned after = atomic_load_explicit(&sequence, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(one == two);
    return unused;
}

int main(void) {
    TOGETHER(change, look);
    return 0;
}
