// SPDX-License-Identifier: Apache-2.0
// The last one to let go frees: the decrement is both release and acquire.
// EXPECT: nothing
#include "together.h"
#include <stdatomic.h>
#include <stdlib.h>

static struct thing {
    atomic_int users;
    int value;
} *thing;

static void *use(void *unused) {
    int seen = thing->value;
    (void)seen;
    if (atomic_fetch_sub_explicit(&thing->users, 1, memory_order_acq_rel) == 1)
        free(thing);
    return unused;
}

int main(void) {
    thing = malloc(sizeof *thing);
    atomic_init(&thing->users, 2);
    thing->value = 7;
    TOGETHER(use, use);
    return 0;
}
