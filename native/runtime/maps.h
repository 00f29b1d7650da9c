// SPDX-License-Identifier: Apache-2.0
// What of memory is mapped, as the kernel lists it.
#ifndef EITHERWAY_MAPS_H
#define EITHERWAY_MAPS_H

#include "raw.h"

// Each mapping but for our own; `access` is "rwxp", or "rwxs" of memory that others have too,
// and the rest of the line behind it. False: the list cannot be had.
bool ew_maps_each(void (*take)(uintptr_t from, uintptr_t to, const char *access));

#endif
