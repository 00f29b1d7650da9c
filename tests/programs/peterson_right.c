// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion by reads and writes of sequentially consistent atomics alone.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int counter;

static void enter(int me) {
    atomic_store(&wants[me], 1);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me)
        sched_yield();
    counter++;
    atomic_store(&wants[me], 0);
}

static void *zero(void *unused) {
    enter(0);
    return unused;
}

static void *one(void *unused) {
    enter(1);
    return unused;
}

int main(void) {
    TOGETHER(zero, one);
    assert(counter == 2);
    return 0;
}
