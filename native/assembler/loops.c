// SPDX-License-Identifier: Apache-2.0
// Which blocks are in small loops: there a call costs more than the space that its replacement
// takes. Elsewhere the space costs more, in caches.
#include "assembler.h"

#include <stdlib.h>

#define SMALL 8   // hooks
#define ROUNDS 64 // each finds one more level of loops in loops

struct graph {
    struct block *blocks;
    uint32_t count;
    uint32_t *order; // in which it was reached in this round; 0: not yet
    uint32_t *lowest;
    uint32_t *stack, *path;
    uint8_t *step; // of `next`: how many were followed
    bool *on_stack, *gone;
    uint32_t stacked, depth, reached;
    bool found; // a loop that was not small
};

static uint32_t at_most(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void enter(struct graph *graph, uint32_t block) {
    graph->order[block] = graph->lowest[block] = ++graph->reached;
    graph->step[block] = 0;
    graph->on_stack[block] = true;
    graph->stack[graph->stacked++] = block;
    graph->path[graph->depth++] = block;
}

static bool is_loop(const struct graph *graph, const uint32_t *members, uint32_t count) {
    const struct block *only = &graph->blocks[members[0]];
    return count > 1 || only->next[0] == members[0] || only->next[1] == members[0];
}

static void decide(struct graph *graph, const uint32_t *members, uint32_t count) {
    uint32_t hooks = 0, first = NO_BLOCK;
    bool calls = false;
    for (uint32_t i = 0; i < count; i++) {
        hooks += graph->blocks[members[i]].hooks;
        calls |= graph->blocks[members[i]].calls;
        first = at_most(first, members[i]);
    }
    bool small = hooks <= SMALL && !calls;
    for (uint32_t i = 0; i < count && small; i++)
        graph->blocks[members[i]].hot = graph->gone[members[i]] = true;
    graph->gone[first] = true; // what is left are the loops inside, if there are any
    graph->found |= !small;
}

// The block and all above it on the stack reach each other.
static void take_component(struct graph *graph, uint32_t block) {
    uint32_t from = graph->stacked;
    do
        graph->on_stack[graph->stack[--from]] = false;
    while (graph->stack[from] != block);
    const uint32_t *members = graph->stack + from;
    uint32_t count = graph->stacked - from;
    graph->stacked = from;
    if (is_loop(graph, members, count))
        decide(graph, members, count);
    else
        graph->gone[block] = true;
}

static void leave(struct graph *graph, uint32_t block) {
    graph->depth--;
    if (graph->depth) {
        uint32_t before = graph->path[graph->depth - 1];
        graph->lowest[before] = at_most(graph->lowest[before], graph->lowest[block]);
    }
    if (graph->lowest[block] == graph->order[block])
        take_component(graph, block);
}

// Tarjan's algorithm, without recursion.
static void search(struct graph *graph, uint32_t start) {
    enter(graph, start);
    while (graph->depth) {
        uint32_t block = graph->path[graph->depth - 1];
        if (graph->step[block] == 2) {
            leave(graph, block);
            continue;
        }
        uint32_t next = graph->blocks[block].next[graph->step[block]++];
        if (next == NO_BLOCK || graph->gone[next])
            continue;
        if (!graph->order[next])
            enter(graph, next);
        else if (graph->on_stack[next])
            graph->lowest[block] = at_most(graph->lowest[block], graph->order[next]);
    }
}

static void search_all(struct graph *graph) {
    graph->found = false;
    graph->reached = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        graph->order[i] = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        if (!graph->gone[i] && !graph->order[i])
            search(graph, i);
}

bool find_loops(struct block *blocks, uint32_t count) {
    uint32_t *numbers = calloc(count, 4 * sizeof *numbers);
    uint8_t *flags = calloc(count, 3);
    struct graph graph = {.blocks = blocks,
                          .count = count,
                          .order = numbers,
                          .lowest = numbers + count,
                          .stack = numbers + 2ul * count,
                          .path = numbers + 3ul * count,
                          .step = flags,
                          .on_stack = (bool *)flags + count,
                          .gone = (bool *)flags + 2ul * count,
                          .found = true};
    bool enough = numbers && flags;
    for (int round = 0; enough && graph.found && round < ROUNDS; round++)
        search_all(&graph);
    free(numbers);
    free(flags);
    return enough;
}
