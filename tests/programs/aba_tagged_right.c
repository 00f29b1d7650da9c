// SPDX-License-Identifier: Apache-2.0
// The same with a number beside the top that changes with every exchange.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_int next[3], popped[3]; // of nodes 1 and 2; node 0 is none
static _Atomic(uint64_t) top;         // tag << 8 | node

static int exchanged(uint64_t *old, int node) {
    return atomic_compare_exchange_strong(&top, old, ((*old >> 8) + 1) << 8 | (unsigned)node);
}

static int pop(void) {
    uint64_t old = atomic_load(&top);
    while ((old & 255) && !exchanged(&old, atomic_load(&next[old & 255]))) {
    }
    int node = (int)(old & 255);
    assert(node == 0 || atomic_exchange(&popped[node], 1) == 0);
    return node;
}

static void push(int node) {
    uint64_t old = atomic_load(&top);
    atomic_store(&popped[node], 0);
    do {
        atomic_store(&next[node], (int)(old & 255));
    } while (!exchanged(&old, node));
}

static void *pop_both(void *unused) {
    pop();
    pop();
    return unused;
}

static void *pop_two_push_one(void *unused) {
    int first = pop();
    pop();
    if (first)
        push(first);
    return unused;
}

int main(void) {
    push(2);
    push(1);
    TOGETHER(pop_both, pop_two_push_one);
    return 0;
}
