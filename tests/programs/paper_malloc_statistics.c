// SPDX-License-Identifier: Apache-2.0
// glibc's malloc statistics: counted without a lock, and asserted on.
// EXPECT: data-race in_use A A
// EXPECT: data-race most A A
// EXPECT: failure SIGABRT
#include "together.h"
#include <assert.h>

static long in_use, most;

static void *allocate(void *unused) {
    in_use += 16;      // A
    if (in_use > most) // A
        most = in_use; // A
    return unused;
}

int main(void) {
    TOGETHER(allocate, allocate);
    assert(most >= in_use);
    assert(in_use == 32);
    return 0;
}
