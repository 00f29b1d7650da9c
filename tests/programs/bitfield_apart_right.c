// SPDX-License-Identifier: Apache-2.0
// A zero-width field keeps the two apart: now they are two places.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static struct {
    unsigned low : 4;
    unsigned : 0;
    unsigned high : 4;
} flags;

static void *set_low(void *unused) {
    flags.low = 1;
    return unused;
}

static void *set_high(void *unused) {
    flags.high = 1;
    return unused;
}

int main(void) {
    TOGETHER(set_low, set_high);
    assert(flags.low == 1 && flags.high == 1);
    return 0;
}
