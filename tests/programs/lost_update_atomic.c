// SPDX-License-Identifier: Apache-2.0
// Load and store are atomic, each for itself: an addition gets lost.
// EXPECT: failure exit:1
// MAY: atomicity counter, because load and store belong together
#include "together.h"
#include <stdatomic.h>

static atomic_int counter;

static void *add(void *unused) {
    int now = atomic_load(&counter);
    atomic_store(&counter, now + 1);
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    return atomic_load(&counter) != 2;
}
