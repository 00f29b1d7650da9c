// SPDX-License-Identifier: Apache-2.0
// One side is atomic, the other a plain read of the same counter.
// EXPECT: data-race counter A B
#include "together.h"

static int counter, seen;

static void *add(void *unused) {
    __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST); // A
    return unused;
}

static void *look(void *unused) {
    seen = counter; // B
    return unused;
}

int main(void) {
    TOGETHER(add, look);
    return 0;
}
