// SPDX-License-Identifier: Apache-2.0
#include "patience.h"

#define LOOKS 100   // at one object, in a row
#define TURNS 20000 // decision points, in a row
#define ACCESS 1000 // so many of those is one that plain accesses led to, of which there were many

static struct {
    const struct ew_thread *thread;
    const void *object;
    uint32_t looks, turns;
} since;

static void count(const struct ew_thread *thread) {
    bool again = thread->about.op == EW_OP_LOAD && thread->about.object == since.object;
    since.looks = again ? since.looks + 1 : 0;
    since.object = thread->about.object;
    since.turns += thread->about.why == EW_WHY_ACCESS ? ACCESS : 1;
}

bool ew_seems_to_wait(const struct ew_decision *decision) {
    const struct ew_thread *thread = decision->running;
    if (thread != since.thread)
        ew_patience_begin();
    since.thread = thread;
    if (!thread || decision->count == 1)
        return false;
    if (decision->why == EW_WHY_YIELD)
        return true;
    count(thread);
    return since.looks >= LOOKS || since.turns >= TURNS;
}

void ew_patience_begin(void) {
    since.thread = NULL;
    since.object = NULL;
    since.looks = since.turns = 0;
}
