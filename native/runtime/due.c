// SPDX-License-Identifier: Apache-2.0
// What becomes due on the virtual clock: deadlines of threads that wait, and timers.
#include "due.h"
#include "schedule.h"
#include "timers.h"

int64_t ew_next_due = EW_NEVER;
uint32_t ew_deadlines;

void ew_due(int64_t when) {
    ew_next_due = when < ew_next_due ? when : ew_next_due;
}

static struct ew_thread *earliest(void) {
    struct ew_thread *first = NULL;
    for (uint32_t i = 0; ew_deadlines && i < ew_thread_count(); i++) {
        struct ew_thread *thread = ew_thread_at(i);
        if (thread->state == EW_BLOCKED && thread->deadline != EW_NEVER &&
            (!first || thread->deadline < first->deadline))
            first = thread;
    }
    return first;
}

int64_t ew_due_while_idle(void) {
    const struct ew_thread *first = earliest();
    int64_t timer = ew_timers_next(true);
    return first && first->deadline < timer ? first->deadline : timer;
}

bool ew_due_expire(bool idle) {
    bool any = false;
    struct ew_thread *first;
    for (; (first = earliest()) && first->deadline <= ew_elapsed(); any = true)
        ew_unblock(first, true);
    if (ew_timers_next(false) <= ew_elapsed()) {
        ew_timers_expire(idle);
        any = true;
    }
    ew_next_due = ew_timers_next(false);
    ew_due(first ? first->deadline : EW_NEVER);
    return any;
}

void ew_due_note(void) {
    ew_schedule_expect(EW_SWITCH_TIME);
    ew_schedule_note(EW_SWITCH_TIME, 0);
}

// Noted because a replay decides less often: it has to look at the same step.
void ew_due_now(void) {
    if (ew_due_expire(false))
        ew_due_note();
}

void ew_due_forked(void) {
    ew_next_due = EW_NEVER;
    ew_deadlines = 0;
}
