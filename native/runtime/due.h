// SPDX-License-Identifier: Apache-2.0
// What becomes due on the virtual clock, for the scheduler.
#ifndef EITHERWAY_DUE_H
#define EITHERWAY_DUE_H

#include "runtime.h"

EW_DATA int64_t ew_next_due;   // nothing is due earlier
EW_DATA uint32_t ew_deadlines; // how many threads wait with one

void ew_due_now(void);           // something may be: threads run
void ew_due_note(void);          // something was
int64_t ew_due_while_idle(void); // when something will be that may let somebody run; or EW_NEVER
bool ew_due_expire(bool idle);   // lets those go on whose time has come; whether there were any
void ew_due_forked(void);

#endif
