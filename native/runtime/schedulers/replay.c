// SPDX-License-Identifier: Apache-2.0
// Decides as was decided before; whoever runs goes on until the recorded switch.
#include "../circles.h"
#include "../schedule.h"
#include "policy.h"

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)seed;
    (void)tuning;
}

static const struct ew_schedule_switch *due(uint32_t kind) {
    const struct ew_schedule_switch *next = ew_schedule_next();
    if (!next || next->steps != ew_steps || next->kind != kind)
        return NULL;
    ew_schedule_taken();
    return next;
}

// Only of a branch: see drive there.
static bool looks_outside(void) {
    return ew_outside_is_due() && ew_look_outside(0);
}

static uint32_t next(const struct ew_decision *decision) {
    if (looks_outside())
        return EW_DECIDE_AGAIN;
    if (due(EW_SWITCH_TIME))
        return EW_TIME_PASSES;
    if (due(EW_SWITCH_CIRCLE))
        ew_circles_closed();
    const struct ew_schedule_switch *recorded = due(EW_SWITCH_THREAD);
    if (!recorded && decision->running)
        return decision->running->ready_at;
    if (!recorded && ew_schedule_until)
        ew_schedule_over();
    if (!recorded)
        ew_schedule_diverged("the replay diverged: a thread blocks that went on in the recording");
    const struct ew_thread *chosen = ew_thread_with(recorded->choice);
    if (chosen && chosen->state == EW_READY)
        return chosen->ready_at;
    ew_schedule_diverged("the replay diverged: the recorded thread cannot go on");
}

static uint32_t pick(uint32_t count) {
    const struct ew_schedule_switch *recorded = due(EW_SWITCH_WAITER);
    if (!recorded || recorded->choice >= count)
        ew_schedule_diverged("the replay diverged: other threads wait than in the recording");
    return recorded->choice;
}

// Of a run that was killed: its last decision point, so that it is seen to be reached. Accesses may
// have followed, and output; who ends it then sees when that is all there. A trace has to end here.
static uint64_t last_known(void) {
    if (ew_steps + 1 < ew_schedule_until)
        return ew_schedule_until - 1;
    return ew_tracing ? ew_schedule_until : 0;
}

// Until the next decision at a later step: what was decided at this one may still be to come.
static int64_t accesses(int64_t left) {
    (void)left;
    uint64_t later = ew_schedule_step_after(ew_steps);
    if (!later)
        later = last_known();
    return later ? (int64_t)(later - ew_steps) - 1 : INT64_MAX; // the access after these asks
}

const struct ew_policy ew_policy_replay = {"replay", start, next, pick, accesses, true};
