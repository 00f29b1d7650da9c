// SPDX-License-Identifier: Apache-2.0
// A sequence lock whose writer raises the number only once, at the end.
// EXPECT: failure SIGABRT
// MAY: atomicity left, because left and right belong together
// MAY: atomicity right, for the same reason
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static atomic_uint sequence;
static atomic_int left, right;

static void *change(void *unused) {
    atomic_store(&left, 1);
    atomic_store(&right, 1);
    atomic_fetch_add(&sequence, 2);
    return unused;
}

static void *look(void *unused) {
    unsigned before = atomic_load(&sequence);
    int one = atomic_load(&left), two = atomic_load(&right);
    if (before == atomic_load(&sequence) && before % 2 == 0)
        assert(one == two);
    return unused;
}

int main(void) {
    TOGETHER(change, look);
    return 0;
}
