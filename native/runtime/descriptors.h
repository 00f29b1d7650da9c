// SPDX-License-Identifier: Apache-2.0
// Which descriptors lead to the outside.
#ifndef EITHERWAY_DESCRIPTORS_H
#define EITHERWAY_DESCRIPTORS_H

#include "runtime.h"

// Whether what can be read from it depends on somebody else: sockets, terminals, devices, pipes
// that came from elsewhere or that another process has too. Files are part of the machine's state.
bool ew_is_outside(int descriptor);

// Whether it is where the program's output goes, which is written in a replay too.
bool ew_is_output(int descriptor);

// A pipe or the like that the program made for itself; both ends are within.
void ew_made_within(int descriptor);

void ew_descriptors_start(void);
void ew_descriptors_shared(void); // there is another process now that has all of them too

#endif
