// SPDX-License-Identifier: Apache-2.0
// The same ring, but with two producers: they write the same slot.
// EXPECT: data-race ring A A
// EXPECT: failure exit:1
// MAY: atomicity tail, because reading and raising the index belong together
#include "together.h"
#include <stdatomic.h>

static int ring[4];
static atomic_uint tail;

static void put(int value) {
    unsigned mine = atomic_load_explicit(&tail, memory_order_relaxed);
    ring[mine] = value; // A
    atomic_store_explicit(&tail, mine + 1, memory_order_release);
}

static void *one(void *unused) {
    put(1);
    return unused;
}

static void *two(void *unused) {
    put(2);
    return unused;
}

int main(void) {
    TOGETHER(one, two);
    return atomic_load(&tail) != 2;
}
