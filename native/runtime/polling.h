// SPDX-License-Identifier: Apache-2.0
// Whether descriptors are ready.
#ifndef EITHERWAY_POLLING_H
#define EITHERWAY_POLLING_H

#include "descriptors.h"

// Whether what happens there is for the outside to say. The program's output is ours: it is
// written really, in a replay too, and always taken.
bool ew_leads_outside(int descriptor, short events);

// poll(2) that does not wait; a question to the outside when `outside`.
long ew_look_at(struct pollfd *polled, nfds_t count, bool outside);

#endif
