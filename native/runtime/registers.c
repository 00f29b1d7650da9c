// SPDX-License-Identifier: Apache-2.0
// What the two threads of a branch hold where they synchronise behind their accesses.
//
// To synchronise is to call us, and of registers a call keeps only these: so whatever the program
// still has in one it has here, or has put it on its stack. Both are told as they are in this very
// function; who reads the trace unwinds from here to the program's frames.
#include "own_memory.h"
#include "threads.h"
#include "trace.h"

#define TIMES 4 // for each: its access itself may be atomic, and one call may tell several events
#define STACK_MAX 65536ul

static struct awaited {
    uint32_t thread, left;
} awaited[2];

// As ew_with_registers leaves it.
struct kept {
    uint64_t r15, r14, r13, r12, rbx, rbp, pc;
};

static struct ew_thread_registers row;

static void take(const char *sp) {
    const struct kept *kept = (const struct kept *)sp;
    const char *stack = (const char *)(kept + 1);
    uintptr_t end = ew_stack_end((uintptr_t)stack);
    if (!end)
        return; // a stack that the program has made: nothing is known of it
    size_t size = end - (uintptr_t)stack;
    row.pc = kept->pc;
    row.stack = (uintptr_t)stack;
    row.r15 = kept->r15;
    row.r14 = kept->r14;
    row.r13 = kept->r13;
    row.r12 = kept->r12;
    row.rbx = kept->rbx;
    row.rbp = kept->rbp;
    row.length = (uint32_t)(size < STACK_MAX ? size : STACK_MAX);
    ew_trace_tailed(&ew_trace_names, EW_BLOCK_THREAD_REGISTERS, &row, stack, row.length);
}

void ew_registers_await(uint32_t thread) {
    struct awaited *other = awaited[0].left ? &awaited[1] : &awaited[0];
    *other = (struct awaited){thread, TIMES};
}

void ew_registers_tell(uint32_t event, unsigned op) {
    for (size_t i = 0; i < sizeof awaited / sizeof *awaited; i++) {
        if (!awaited[i].left || awaited[i].thread != ew_self->id)
            continue;
        awaited[i].left--;
        row.event = event;
        row.result = op == EW_OP_END ? (uintptr_t)ew_self->result : 0;
        ew_with_registers(take);
    }
}
