// SPDX-License-Identifier: Apache-2.0
// A spin lock made of an atomic flag, with the orders that a lock needs.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int counter;

static void *add(void *unused) {
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        sched_yield();
    counter++;
    atomic_flag_clear_explicit(&taken, memory_order_release);
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    assert(counter == 2);
    return 0;
}
