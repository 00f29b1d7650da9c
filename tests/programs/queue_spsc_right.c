// SPDX-License-Identifier: Apache-2.0
// A ring for one producer and one consumer: each index has one writer, with release and acquire.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static int ring[2], sum;
static atomic_uint head, tail;

static void *produce(void *unused) {
    for (unsigned i = 0; i < 3; i++) {
        while (i - atomic_load_explicit(&head, memory_order_acquire) == 2)
            sched_yield();
        ring[i % 2] = (int)i;
        atomic_store_explicit(&tail, i + 1, memory_order_release);
    }
    return unused;
}

static void *consume(void *unused) {
    for (unsigned i = 0; i < 3; i++) {
        while (atomic_load_explicit(&tail, memory_order_acquire) == i)
            sched_yield();
        sum += ring[i % 2];
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    return unused;
}

int main(void) {
    TOGETHER(produce, consume);
    assert(sum == 3);
    return 0;
}
