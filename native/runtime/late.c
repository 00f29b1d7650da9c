// SPDX-License-Identifier: Apache-2.0
#include "late.h"
#include "due.h"
#include "schedule.h"
#include "threads.h"

#define WAIT 50000000   // nanoseconds: what does not come in this time perhaps waits for it
#define FIRST 300000000 // the same, when nothing has come yet: who drives it has to start
#define LONG 2000000000 // of virtual time, which others wait that it comes too late for
#define WAITS 32        // in a run
#define TURNS 20000     // that others had instead of it: perhaps they wait for it too

uint32_t ew_late = EW_NOBODY_LATE;
static uint32_t turns, waits;
static bool came; // anything from outside, while it was late

void ew_late_begin(uint32_t number) {
    ew_late = number ? number - 1 : EW_NOBODY_LATE;
    turns = waits = 0;
    came = false;
}

// Whether anything came, or became due.
static bool wait_for_others(void) {
    int64_t due = ew_due_while_idle(), left = due == EW_NEVER ? EW_NEVER : due - ew_elapsed();
    if (left <= 0)
        return true;
    int64_t longest = came ? WAIT : FIRST;
    ew_schedule_waits(); // who drives it may begin
    ew_signals_hold();
    bool seen = ew_signal_arrived || ew_look_outside(left < longest ? left : longest);
    ew_signals_release();
    came |= seen || ew_signal_arrived;
    if (seen || ew_signal_arrived || left > LONG)
        return seen || ew_signal_arrived;
    ew_time_passes(due - ew_elapsed());
    return true;
}

void ew_late_waits(void) {
    if (ew_ready_count != 1 || ew_ready[0]->id != ew_late || !ew_outside_waited_for() ||
        ew_schedule_following())
        return;
    if (++waits > WAITS || !wait_for_others())
        ew_late = EW_NOBODY_LATE;
}

struct ew_thread *ew_late_instead(struct ew_thread *late) {
    if (ew_ready_count == 1 || ew_schedule_following())
        return late;
    if (++turns == TURNS)
        ew_late = EW_NOBODY_LATE;
    struct ew_thread *other = ew_ready[turns % ew_ready_count];
    return other != late ? other : ew_ready[(turns + 1) % ew_ready_count];
}
