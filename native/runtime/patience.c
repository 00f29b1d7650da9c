// SPDX-License-Identifier: Apache-2.0
#include "patience.h"

#define LOOKS 100   // at one object, in a row
#define TURNS 20000 // decision points, in a row
#define ACCESS 1000 // so many of those is one that plain accesses led to, of which there were many

static struct {
    const struct ew_thread *thread;
    const volatile void *object;
    uint32_t looks, turns, offers;
} since;
static uint32_t offers_free; // of its turn, in a row, that are not yet taken for waiting

static void forget(void) {
    since.thread = NULL;
    since.object = NULL;
    since.looks = since.turns = since.offers = 0;
}

static void count(const struct ew_thread *thread) {
    bool again = thread->about.op == EW_OP_LOAD && thread->about.object == since.object;
    since.looks = again ? since.looks + 1 : 0;
    since.object = thread->about.object;
    since.turns += thread->about.why == EW_WHY_ACCESS ? ACCESS : 1;
}

bool ew_seems_to_wait(const struct ew_decision *decision) {
    const struct ew_thread *thread = decision->running;
    if (thread != since.thread)
        forget();
    since.thread = thread;
    if (!thread || decision->count == 1)
        return false;
    if (decision->why == EW_WHY_YIELD && ++since.offers > offers_free)
        return true;
    count(thread);
    return since.looks >= LOOKS || since.turns >= TURNS;
}

void ew_patience_begin(uint32_t offers) {
    offers_free = offers;
    forget();
}
