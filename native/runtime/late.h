// SPDX-License-Identifier: Apache-2.0
// A thread that comes late: others go on before it, and so does the outside.
//
// Who may go on does so at once, while what comes from outside takes its time. So a server under
// control is always done with all it has to do before its next request, which real ones are not.
#ifndef EITHERWAY_LATE_H
#define EITHERWAY_LATE_H

#include "runtime.h"

#define EW_NOBODY_LATE UINT32_MAX

EW_DATA uint32_t ew_late; // the number of the thread

void ew_late_begin(uint32_t number); // 0: nobody, else 1 more than the thread's
// Before a decision: nobody else may go on. Waits for the outside, really but not for long.
void ew_late_waits(void);
// It is the one to go on: who does instead, if others may.
struct ew_thread *ew_late_instead(struct ew_thread *late);

#endif
