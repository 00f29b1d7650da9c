// SPDX-License-Identifier: Apache-2.0
// Descriptors that came from outside: in a replay something that leads nowhere takes their number.
#ifndef EITHERWAY_PLACEHOLDER_H
#define EITHERWAY_PLACEHOLDER_H

#include "descriptors.h"

// A descriptor of that kind (S_IFSOCK, S_IFIFO, S_IFREG) at that number; `flags` of open.
void ew_placeholder(int descriptor, mode_t type, off_t size, int flags);

// A descriptor that another process has handed us, of whatever kind.
void ew_came_from_outside(int descriptor, bool close_on_exec);

#endif
