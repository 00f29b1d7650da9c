// SPDX-License-Identifier: Apache-2.0
// The schedule of this run as it is made, and the one to follow when it is a replay.
#ifndef EITHERWAY_SCHEDULE_H
#define EITHERWAY_SCHEDULE_H

#include "runtime.h"

// Kinds of struct ew_schedule_switch.
enum {
    EW_SWITCH_THREAD,
    EW_SWITCH_WAITER,
    EW_SWITCH_OUTSIDE,
    EW_SWITCH_WAITED,
    EW_SWITCH_SIGNAL,  // one came from the kernel
    EW_SWITCH_TIME,    // something became due on the virtual clock
    EW_SWITCH_CIRCLE,  // the program was as it had been before: the run ends here
    EW_SWITCH_STOPPED, // it stopped itself, and nobody lets it go on: the same
};

void ew_schedule_record(struct ew_schedule_head *memory, struct ew_schedule_switch *switches);
void ew_schedule_replay(const struct ew_schedule_head *old,
                        const struct ew_schedule_switch *switches);

void ew_schedule_forked(void); // nobody keeps the child's

EW_DATA struct ew_schedule_head *ew_schedule_made;             // of this run
EW_DATA const struct ew_schedule_switch *ew_schedule_recorded; // that it follows, or NULL

// The run came so far, although its last decision point was earlier: it may have crashed right
// behind an access that was none.
void ew_schedule_goes_to(uint64_t step);

void ew_schedule_check(void);
static inline void ew_schedule_reached(void) { // a decision point
    ew_schedule_made->reached = ew_steps;
    if (UNLIKELY(ew_schedule_recorded != NULL))
        ew_schedule_check();
}
void ew_schedule_waits(void); // nothing to do but to wait for the outside

void ew_schedule_note(uint32_t kind, uint32_t choice);

// The next recorded decision that is not yet taken; NULL behind the last one.
const struct ew_schedule_switch *ew_schedule_next(void);
uint64_t ew_schedule_step_after(uint64_t step); // of the first decision behind it; 0: none
void ew_schedule_taken(void);
static inline bool ew_schedule_following(void) { // this run is a replay
    return ew_schedule_recorded != NULL;
}
void ew_schedule_leave(void); // from here on it is none any more
// In a replay takes the next one, which has to be of this kind and at this step.
void ew_schedule_expect(uint32_t kind);

// The recording is of a run that was killed: the first step that is not known of it, or 0.
EW_DATA uint64_t ew_schedule_until;
_Noreturn void ew_schedule_over(void); // ends as it did
_Noreturn void ew_schedule_diverged(const char *how);

#endif
