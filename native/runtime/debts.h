// SPDX-License-Identifier: Apache-2.0
// What a replay was told it had read from pipes, and what really comes through them.
//
// In a replay reading takes from the recording; but who writes its output into the pipe does so
// really, and would wait for ever if nobody took it. So as much as was read is taken away again,
// when it comes, for as long as this process has the pipe.
//
// And what is written to a pipe that the program made is really written, as far as there is room:
// who reads it may be a program that is not ours.
#ifndef EITHERWAY_DEBTS_H
#define EITHERWAY_DEBTS_H

#include "runtime.h"

#include <sys/stat.h>

// So many bytes were read, it was told, from what this descriptor leads to.
void ew_debt(int descriptor, const struct stat *status, long bytes);

// Really waits until the descriptor is ready, and takes what comes meanwhile; false: it takes
// longer.
bool ew_debts_until(int descriptor, short events, int milliseconds);

#endif
