// SPDX-License-Identifier: Apache-2.0
// Numbers of processes: in a replay they are others than the program is told.
#ifndef EITHERWAY_PIDS_H
#define EITHERWAY_PIDS_H

#include <sys/types.h>

// The run begins: its own number and its parent's are recorded.
void ew_pids_begin(void);
void ew_pids_forked(void); // another process now
void ew_pids_copied(void); // a copy that is told what the first was told

// A child was made: what the program is told its number is. Errors pass through.
pid_t ew_pid_made(pid_t child);

// The number that the kernel knows a told one by. In a replay only processes that it has made are
// known: what bears the number of any other now has nothing to do with it.
#define EW_NOBODY 0x7FFFFFFF // above all that the kernel gives
pid_t ew_pid_real(pid_t told);
pid_t ew_pid_told(pid_t real); // the other way; 0: nobody in a replay

pid_t ew_pid_behind(int descriptor); // of pidfd_open; or EW_NOBODY

void ew_pid_over(pid_t told); // its end was taken: the number may become another's

#endif
