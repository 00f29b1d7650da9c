// SPDX-License-Identifier: Apache-2.0
// Numbers of processes: in a replay they are others than the program is told.
#ifndef EITHERWAY_PIDS_H
#define EITHERWAY_PIDS_H

#include <sys/types.h>

// The run begins: its own number and its parent's are recorded.
void ew_pids_begin(void);
void ew_pids_forked(void); // another process now

// A child was made: what the program is told its number is. Errors pass through.
pid_t ew_pid_made(pid_t child);

// The number that the kernel knows a told one by.
pid_t ew_pid_real(pid_t told);

#endif
