// SPDX-License-Identifier: Apache-2.0
// The decrement is relaxed: nothing orders the other's last use with the free.
// EXPECT: data-race - A B
// EXPECT: data-race - B C
#include "together.h"
#include <stdatomic.h>
#include <stdlib.h>

static struct thing {
    atomic_int users;
    int value;
} *thing;

static int look(void) {
    return thing->value; // A
}

static int is_last(void) {
    return atomic_fetch_sub_explicit(&thing->users, 1, memory_order_relaxed) == 1; // C
}

static void *use(void *unused) {
    look();
    if (is_last())
        free(thing); // B
    return unused;
}

int main(void) {
    thing = malloc(sizeof *thing);
    atomic_init(&thing->users, 2);
    thing->value = 7;
    TOGETHER(use, use);
    return 0;
}
