// SPDX-License-Identifier: Apache-2.0
// Keeps the schedule in memory that outlives the target, however it ends.
#include "schedule.h"
#include "hashes.h"
#include "left.h"

#include <signal.h>

static struct ew_schedule_head private_head;
struct ew_schedule_head *ew_schedule_made = &private_head;
static struct ew_schedule_switch *made;

const struct ew_schedule_switch *ew_schedule_recorded;
static uint64_t recorded_count, recorded_end, taken;
uint64_t ew_schedule_until;

void ew_schedule_record(struct ew_schedule_head *memory, struct ew_schedule_switch *switches) {
    ew_schedule_made = memory;
    made = switches;
}

void ew_schedule_replay(const struct ew_schedule_head *old,
                        const struct ew_schedule_switch *switches) {
    ew_schedule_recorded = switches;
    recorded_count = old->switches;
    recorded_end = old->reached;
    taken = 0;
}

void ew_schedule_goes_to(uint64_t step) {
    if (recorded_end < step)
        recorded_end = step;
}

void ew_schedule_forked(void) {
    private_head = (struct ew_schedule_head){0};
}

// One that goes another way may wait for ever, by looking, for what does not come any more.
EW_COLD void ew_schedule_check(void) {
    const struct ew_schedule_switch *next = ew_schedule_next();
    if (ew_schedule_until && ew_steps >= ew_schedule_until)
        ew_schedule_over();
    if (next && next->steps < ew_steps)
        ew_schedule_diverged("the replay diverged: what happened at an earlier step has not");
    if (!next && ew_steps > recorded_end)
        ew_schedule_diverged("the replay diverged: it goes on where the recording ends");
}

void ew_schedule_waits(void) {
    ew_schedule_made->waits++;
}

void ew_schedule_note(uint32_t kind, uint32_t choice) {
    struct ew_schedule_head *head = ew_schedule_made;
    head->hash = ew_hash_word(ew_hash_word(head->hash, ew_steps), ((uint64_t)kind << 32) | choice);
    head->steps = ew_steps;
    if (!made)
        return;
    if (head->switches == head->room)
        ew_cannot("the schedule is longer than the memory for it");
    made[head->switches] = (struct ew_schedule_switch){ew_steps, choice, kind};
    head->switches++;
}

const struct ew_schedule_switch *ew_schedule_next(void) {
    return taken < recorded_count ? &ew_schedule_recorded[taken] : NULL;
}

uint64_t ew_schedule_step_after(uint64_t step) {
    for (uint64_t i = taken; i < recorded_count; i++)
        if (ew_schedule_recorded[i].steps > step)
            return ew_schedule_recorded[i].steps;
    return 0;
}

void ew_schedule_taken(void) {
    taken++;
}

void ew_schedule_leave(void) {
    ew_left_begin();
    ew_schedule_recorded = NULL;
    recorded_count = taken = ew_schedule_until = 0;
}

_Noreturn void ew_schedule_over(void) {
    ew_trace_finish();
    raw3(SYS_kill, raw1(SYS_getpid, 0), SIGKILL, 0);
    __builtin_unreachable();
}

_Noreturn void ew_schedule_diverged(const char *how) {
    ew_schedule_made->diverged_at = ew_steps;
    ew_cannot_follow(how);
}

void ew_schedule_expect(uint32_t kind) {
    const struct ew_schedule_switch *next = ew_schedule_next();
    if (!ew_schedule_recorded)
        return;
    if (!next && ew_schedule_until)
        ew_schedule_over();
    if (!next || next->kind != kind || next->steps != ew_steps)
        ew_schedule_diverged("the replay diverged: something is due at another time");
    ew_schedule_taken();
}
