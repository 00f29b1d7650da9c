// SPDX-License-Identifier: Apache-2.0
// What a branch leaves in memory, whoever stored it: all that is not as it was at the cut.
#ifndef EITHERWAY_LEFT_H
#define EITHERWAY_LEFT_H

#include "runtime.h"

void ew_left_ask(void);   // of this run, when it leaves the recorded way
void ew_left_begin(void); // it does so now
void ew_left_tell(void);  // at the end
void ew_left_again(void); // that was not the end: what was told does not hold

// A block of the heap came to be, at this event of the trace.
void ew_left_allocated(const void *block, size_t size, uint32_t event);
// The next one is made of what `old` held: so many bytes.
void ew_left_moves(const void *old, size_t size);

#endif
