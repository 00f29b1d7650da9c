// SPDX-License-Identifier: Apache-2.0
// The decrement only releases; who is last puts an acquire fence before the free.
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
    if (atomic_fetch_sub_explicit(&thing->users, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        free(thing);
    }
    return unused;
}

int main(void) {
    thing = malloc(sizeof *thing);
    atomic_init(&thing->users, 2);
    thing->value = 7;
    TOGETHER(use, use);
    return 0;
}
