// SPDX-License-Identifier: Apache-2.0
// Call sites: a tree, its nodes found by (caller, pc). It grows with the paths that the program
// takes through its code, not with how long it runs.
#include "trace.h"

static struct node {
    uint64_t pc;
    uint32_t caller, next; // next in its hash chain
} *nodes;
static uint32_t node_count = 1, *chains, frames_wanted;
#define NODES_MAX (1u << 26) // reserved, not used
#define CHAINS (1u << 18)

static uint32_t add_node(uint32_t caller, uint64_t pc, uint32_t *chain) {
    if (node_count == NODES_MAX)
        ew_cannot("the trace has more than 67 million call sites; ask for fewer frames");
    nodes[node_count] = (struct node){pc, caller, *chain};
    struct ew_thread_frame row = {.caller = caller, .pc = pc};
    ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_FRAMES, &row);
    return *chain = node_count++;
}

static uint32_t node_of(uint32_t caller, uint64_t pc) {
    uint32_t *chain = &chains[((pc ^ ((uint64_t)caller << 32)) * 0x9E3779B97F4A7C15u) >> 46];
    for (uint32_t at = *chain; at; at = nodes[at].next)
        if (nodes[at].pc == pc && nodes[at].caller == caller)
            return at;
    return add_node(caller, pc, chain);
}

// The stack that was looked at last: as far as it is the same, its nodes are.
#define KNOWN_MAX (1u << 20)
static struct known {
    uintptr_t pc;
    uint32_t node;
} *known;
static size_t known_count;
static const uintptr_t *known_stack;

static uint32_t node_of_stack(const uintptr_t *stack, size_t depth) {
    if (stack != known_stack)
        known_count = 0;
    known_stack = stack;
    size_t at = 0;
    while (at < depth && at < known_count && known[at].pc == stack[at])
        at++;
    uint32_t node = at ? known[at - 1].node : 0;
    if (at < depth)
        known_count = at;
    for (; at < depth; at++) {
        node = node_of(node, stack[at]);
        if (at < KNOWN_MAX)
            known[known_count++] = (struct known){stack[at], node};
    }
    return node;
}

static uint32_t node_of_nearest(const uintptr_t *frame, size_t count) {
    uint32_t node = 0;
    for (size_t i = 0; i < count; i++)
        node = node_of(node, frame[i]);
    return node;
}

uint32_t ew_site_of(const uintptr_t *frames, size_t depth) {
    return depth > frames_wanted ? node_of_nearest(frames + depth - frames_wanted, frames_wanted)
                                 : node_of_stack(frames, depth);
}

uint32_t ew_site(const void *pc) {
    const uintptr_t *stack = ew_self->frames_base;
    return node_of(ew_site_of(stack, (size_t)(ew_frames - stack)), (uintptr_t)pc);
}

void ew_sites_start(uint32_t frames) {
    frames_wanted = frames;
    nodes = ew_pages(NODES_MAX * sizeof *nodes);
    chains = ew_pages(CHAINS * sizeof *chains);
    known = ew_pages(KNOWN_MAX * sizeof *known);
    struct ew_thread_frame bottom = {0};
    ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_FRAMES, &bottom);
}
