// SPDX-License-Identifier: Apache-2.0
// A sequence lock around plain data: what is read in between is thrown away, but is a race.
// EXPECT: data-race value A B
#include "together.h"
#include <stdatomic.h>

static atomic_uint sequence;
static int value;

static void *change(void *unused) {
    atomic_fetch_add(&sequence, 1);
    value = 7; // A
    atomic_fetch_add(&sequence, 1);
    return unused;
}

static void *look(void *unused) {
    unsigned before = atomic_load(&sequence);
    int seen = value; // B
    if (before == atomic_load(&sequence) && before % 2 == 0)
        return seen ? unused : NULL;
    return unused;
}

int main(void) {
    TOGETHER(change, look);
    return 0;
}
