// SPDX-License-Identifier: Apache-2.0
// The outside as a recorded run had it, for one that has left that run half-way.
//
// Each thread gets what it got then, as long as it asks the same questions; whoever waits is let go
// when it was. The outside may have acted on all that it had heard before: so nothing of it comes
// before everything that threads told it earlier in the recording.
#ifndef EITHERWAY_SCRIPT_H
#define EITHERWAY_SCRIPT_H

#include "input.h"

EW_DATA bool ew_scripted;

// What is left of the recording.
void ew_script_begin(const char *items, const char *end);

// The running thread's next item, which has to be of this kind and answer this question. Where the
// recording knows no answer the run ends.
const struct ew_inputs_item *ew_script_take(uint32_t kind);
bool ew_script_is_next(uint32_t kind);
// It stops itself: whether somebody let this thread go on then, before it got anything else.
bool ew_script_goes_on(void);
bool ew_script_sees_nothing(uint32_t kind); // that is the answer, and nothing is taken
// The same of a call that is to send so many bytes: the outside takes as many as it did then.
long ew_script_sent(uint32_t kind, long bytes);

// A file has answered itself, with this: what the recording has of the same question, if that is
// the same in all but times and numbers. NULL: nothing.
const void *ew_script_of_file(uint32_t kind, long result, const void *data, size_t size);

void ew_script_waited(uint32_t thread, const struct ew_input_wait *wait);

// The next that the outside does of itself: lets a thread go that waits, or sends a signal. False:
// nothing, or nothing before it has heard more.
struct ew_script_act {
    int64_t when;
    struct ew_thread *thread; // NULL: a signal
};
bool ew_script_next_act(struct ew_script_act *act);
void ew_script_take_signal(struct ew_input_signal *signal);

// Nobody can go on, and somebody waits for the outside: whether it may have more to say.
bool ew_script_may_go_on(void);
// Whether something of it waits until threads have told the outside more.
bool ew_script_is_stalled(void);
// Whether the thread is about to ask what cannot be answered before others have told more.
bool ew_script_holds(const struct ew_thread *thread);

_Noreturn void ew_script_over(void); // it goes where the recording does not lead

#endif
