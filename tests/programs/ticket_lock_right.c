// SPDX-License-Identifier: Apache-2.0
// A ticket lock of two atomic numbers.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_uint next, serving;
static int counter;

static void *add(void *unused) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
        sched_yield();
    counter++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
    return unused;
}

int main(void) {
    TOGETHER(add, add, add);
    assert(counter == 3);
    return 0;
}
