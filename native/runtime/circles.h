// SPDX-License-Identifier: Apache-2.0
// A program that goes round in circles: it comes to the very state in which it was before, and
// nothing from outside has come to it meanwhile, so it will do so for ever.
//
// When a run has come to very many decision points and nothing but looks at memory and at locks has
// happened, all threads that can go on are let run in turn for a while, for turns of different
// lengths. If all that the program has (memory, registers, stacks, who waits for what and how long)
// is then as it was at an earlier beginning of such turns, that is the proof: from there on the
// same happens again. It is proven for these turns, which are fair, and not for all others.
#ifndef EITHERWAY_CIRCLES_H
#define EITHERWAY_CIRCLES_H

#include "schedulers/policy.h"

EW_DATA bool ew_circles_watched; // all threads run in turn

// Whether circles are looked for from here on: of all threads, or of all but one that is held. A
// circle of all ends the run; the other only says that none of them comes any further without it.
void ew_circles_begin(bool look, const struct ew_thread *without);
bool ew_circles_closed_without_held(void);

// A decision point: counted, and what is not quiet begins the count anew.
EW_DATA bool ew_circles_looked_for;
void ew_circles_count(enum ew_why why);
static inline void ew_circles_point(enum ew_why why) {
    if (ew_circles_looked_for)
        ew_circles_count(why);
}
// While threads run in turn: who goes on. NULL: nobody is ready but who is held, or the circle is
// closed.
struct ew_thread *ew_circles_next(enum ew_why why);
// Something came from outside, or the program has looked at a clock.
void ew_circles_disturb(void);
_Noreturn void ew_circles_closed(void); // the run ends here

#endif
