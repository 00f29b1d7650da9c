// SPDX-License-Identifier: Apache-2.0
// Waits on an atomic flag in a loop.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int done;
static int result;

static void *work(void *unused) {
    result = 42;
    atomic_store_explicit(&done, 1, memory_order_release);
    return unused;
}

static void *wait_for_it(void *unused) {
    while (!atomic_load_explicit(&done, memory_order_acquire))
        sched_yield();
    assert(result == 42);
    return unused;
}

int main(void) {
    TOGETHER(work, wait_for_it);
    return 0;
}
