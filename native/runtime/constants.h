// SPDX-License-Identifier: Apache-2.0
// What nobody can write of the program: its code and its constants. To read them is no race, and
// nobody needs to know who has. A program that makes them writable has none from then on; what was
// read of them before is not known.
#ifndef EITHERWAY_CONSTANTS_H
#define EITHERWAY_CONSTANTS_H

#include "raw.h"

EW_DATA uintptr_t ew_constants;
EW_DATA size_t ew_constants_size;

static inline bool ew_are_constant(uintptr_t address, size_t size) {
    size_t behind = address - ew_constants;
    return behind < ew_constants_size && size <= ew_constants_size - behind;
}

void ew_constants_start(void);
void ew_constants_writable(const void *address, size_t size); // from now on

#endif
