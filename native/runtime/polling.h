// SPDX-License-Identifier: Apache-2.0
// Whether descriptors are ready.
#ifndef EITHERWAY_POLLING_H
#define EITHERWAY_POLLING_H

#include "descriptors.h"

// poll(2) that does not wait; a question to the outside when `outside`.
long ew_look_at(struct pollfd *polled, nfds_t count, bool outside);

#endif
