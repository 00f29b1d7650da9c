// SPDX-License-Identifier: Apache-2.0
// flags: -mcx16
// A lock-free stack whose head is a pointer and a count, exchanged as 16 bytes.
#include "team.h"

#define NODES 40
struct node {
    struct node *next;
    int value, held;
};
union head {
    struct {
        struct node *top;
        uint64_t count;
    };
    unsigned __int128 all;
};
static union head head __attribute__((aligned(16)));
static struct node nodes[NODES];

static int swap(union head *old, union head new) {
    unsigned __int128 found = __sync_val_compare_and_swap(&head.all, old->all, new.all);
    int done = found == old->all;
    old->all = found;
    return done;
}

static union head look(void) {
    return (union head){.all = __sync_val_compare_and_swap(&head.all, 0, 0)};
}

static void push(struct node *node) {
    union head old = look();
    do {
        __atomic_store_n(&node->next, old.top, __ATOMIC_RELAXED);
    } while (!swap(&old, (union head){.top = node, .count = old.count + 1}));
}

static struct node *pop(void) {
    union head old = look();
    struct node *next;
    do {
        if (!old.top)
            return NULL;
        next = __atomic_load_n(&old.top->next, __ATOMIC_RELAXED); // may be in use again: counted
    } while (!swap(&old, (union head){.top = next, .count = old.count + 1}));
    return old.top;
}

static void *moves(void *number) {
    for (int i = 0; i < 30; i++) {
        struct node *node = pop();
        if (!node)
            continue;
        CHECK(__atomic_exchange_n(&node->held, 1, __ATOMIC_ACQ_REL) == 0); // nobody else has it
        node->value++;
        __atomic_store_n(&node->held, 0, __ATOMIC_RELEASE);
        push(node);
    }
    return number;
}

int main(void) {
    for (int i = 0; i < NODES; i++)
        push(&nodes[i]);
    run_team(4, moves);
    int left = 0, moved = 0;
    for (struct node *node; (node = pop()); left++)
        moved += node->value;
    CHECK(left == NODES && moved == 120);
    return 0;
}
