// SPDX-License-Identifier: Apache-2.0
// Whether processes that are not ours have something to do, as the kernel tells.
#ifndef EITHERWAY_AT_WORK_H
#define EITHERWAY_AT_WORK_H

#include "runtime.h"

#include <sys/types.h>

char ew_state_of(pid_t process);  // the letter of ps; 0: it is gone
bool ew_at_work(pid_t process);   // it, or some process that comes of it
bool ew_has_ended(pid_t process); // whether or not somebody has taken its end

#endif
