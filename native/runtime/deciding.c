// SPDX-License-Identifier: Apache-2.0
#include "deciding.h"
#include "circles.h"
#include "due.h"
#include "guide.h"
#include "late.h"
#include "schedule.h"

#include <string.h>

static const struct ew_policy *const policies[] = {
    &ew_policy_random_walk, &ew_policy_round_robin, &ew_policy_replay,
    &ew_policy_pct,         &ew_policy_pos,         &ew_policy_surw,
    &ew_policy_depth_first, &ew_policy_branch,      &ew_policy_turns,
};
static const struct ew_policy *policy;

static void pass_time(void) {
    int64_t due = ew_due_while_idle();
    if (due == EW_NEVER)
        ew_bug("time is to pass until something is due, and nothing is");
    ew_clock_jump(due);
    ew_due_expire(true);
    ew_schedule_note(EW_SWITCH_TIME, 1);
}

struct ew_thread *ew_decide(enum ew_why why) {
    for (;;) {
        uint32_t count = ew_ready_count;
        bool may_stay = ew_self->state == EW_READY;
        ew_guide_point(ew_self, why, count > 1);
        ew_circles_point(why);
        if (UNLIKELY(ew_circles_watched)) {
            struct ew_thread *next = ew_circles_next(why);
            if (next)
                return next;
        }
        if (count == 1 && may_stay && !policy->alone)
            return ew_self;
        const struct ew_decision decision = {why, ew_ready, count, may_stay ? ew_self : NULL};
        uint32_t index = policy->next(&decision);
        if (index == EW_TIME_PASSES)
            pass_time();
        else if (index != EW_DECIDE_AGAIN)
            return UNLIKELY(ew_ready[index]->id == ew_late) ? ew_late_instead(ew_ready[index])
                                                            : ew_ready[index];
    }
}

uint32_t ew_pick(uint32_t count) {
    uint32_t index = count == 1 || ew_circles_watched ? 0 : policy->pick(count);
    if (count > 1)
        ew_schedule_note(EW_SWITCH_WAITER, index);
    return index;
}

int64_t ew_deciding_accesses(int64_t left) {
    return ew_circles_watched ? 0 : policy->accesses(left);
}

// --- start

static const struct ew_policy *policy_named(const char *name) {
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    ew_bad_options("there is no scheduler of that name");
}

void ew_deciding_start(void) {
    policy = &ew_policy_round_robin;
}

// What threads have from an earlier policy means nothing to this one.
void ew_deciding_begin(const char *name, uint64_t seed, const struct ew_tuning *tuning) {
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        ew_thread_at(i)->priority = 0;
    policy = policy_named(name);
    policy->start(seed, tuning);
    ew_late_begin(tuning ? tuning->late : 0);
}
