// SPDX-License-Identifier: Apache-2.0
// std::list of libstdc++: its nodes are linked by functions of the library, where nobody would tell
// what they touch. A list that one thread fills and another looks at would seem not to have
// changed.
//
// They are so small that they are done here: the library may be part of the program, without names.
#include "runtime.h"

#include "eitherway_format.h"

struct node {
    struct node *next, *previous;
};

#define LIST(name) EW_EXPORT void _ZNSt8__detail15_List_node_base##name

static struct node *load(struct node *const *place, const void *pc) {
    ew_access(EW_OP_LOAD, place, sizeof *place, pc);
    return *place;
}

static void store(struct node **place, struct node *node, const void *pc) {
    ew_access(EW_OP_STORE, place, sizeof *place, pc);
    *place = node;
}

static void join(struct node *one, struct node *other, const void *pc) {
    store(&one->next, other, pc);
    store(&other->previous, one, pc);
}

// Before another.
LIST(7_M_hookEPS0_)(struct node *node, struct node *other) {
    struct node *previous = load(&other->previous, PC);
    join(previous, node, PC);
    join(node, other, PC);
}

LIST(9_M_unhookEv)(struct node *node) {
    struct node *next = load(&node->next, PC);
    join(load(&node->previous, PC), next, PC);
}

// Those from the first on, without the last, before this one.
LIST(11_M_transferEPS0_S1_)(struct node *node, struct node *first, struct node *last) {
    if (node == last)
        return;
    struct node *end = load(&last->previous, PC);
    struct node *before = load(&node->previous, PC);
    join(load(&first->previous, PC), last, PC);
    join(before, first, PC);
    join(end, node, PC);
}

LIST(10_M_reverseEv)(struct node *list) {
    struct node *node = list;
    do {
        struct node *next = load(&node->next, PC);
        store(&node->next, load(&node->previous, PC), PC);
        store(&node->previous, next, PC);
        node = next;
    } while (node != list);
}

// What a list holds is between its own node and itself.
static void hold(struct node *list, struct node *first, struct node *last, const void *pc) {
    join(list, first, pc);
    join(last, list, pc);
}

LIST(4swapERS0_S1_)(struct node *one, struct node *other) {
    struct node *first = load(&one->next, PC), *last = load(&one->previous, PC);
    struct node *others = load(&other->next, PC), *end = load(&other->previous, PC);
    hold(one, others == other ? one : others, others == other ? one : end, PC);
    hold(other, first == one ? other : first, first == one ? other : last, PC);
}
