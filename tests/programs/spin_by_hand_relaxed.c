// SPDX-License-Identifier: Apache-2.0
// A spin lock made of an atomic flag that keeps others out, but orders nothing.
// EXPECT: data-race counter A A
#include "together.h"
#include <sched.h>
#include <stdatomic.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;
static int counter;

static void *add(void *unused) {
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_relaxed))
        sched_yield();
    counter++; // A
    atomic_flag_clear_explicit(&taken, memory_order_relaxed);
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    return 0;
}
