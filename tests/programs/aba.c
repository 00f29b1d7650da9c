// SPDX-License-Identifier: Apache-2.0
// A lock-free stack: the top is what it was, but no longer leads where it led.
// EXPECT: failure SIGABRT
// MAY: atomicity top, because between reading the top and exchanging it others come
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static struct node {
    _Atomic(struct node *) next;
    atomic_int popped;
} a, b;
static _Atomic(struct node *) top;

static struct node *pop(void) {
    struct node *old = atomic_load(&top);
    while (old && !atomic_compare_exchange_strong(&top, &old, atomic_load(&old->next))) {
    }
    if (old)
        assert(atomic_exchange(&old->popped, 1) == 0);
    return old;
}

static void push(struct node *node) {
    atomic_store(&node->popped, 0);
    atomic_store(&node->next, atomic_load(&top));
    atomic_store(&top, node);
}

static void *pop_both(void *unused) {
    pop();
    pop();
    return unused;
}

static void *pop_two_push_one(void *unused) {
    struct node *first = pop();
    pop();
    if (first == &a)
        push(first);
    return unused;
}

int main(void) {
    push(&b);
    push(&a);
    TOGETHER(pop_both, pop_two_push_one);
    return 0;
}
