// SPDX-License-Identifier: Apache-2.0
// All that a program has, in a number: two moments of one run with the same are the same state.
#ifndef EITHERWAY_FINGERPRINT_H
#define EITHERWAY_FINGERPRINT_H

#include "runtime.h"

struct ew_fingerprint {
    uint64_t hash;
    uint64_t pages;   // that were looked at
    uint64_t changed; // of them, since the last time
};

// False when there is no telling: memory is shared with others, or there is too much to look at.
bool ew_fingerprint(struct ew_fingerprint *result);
// The same of where the threads stand alone: registers and innermost frames. Little to look at.
bool ew_fingerprint_of_places(uint64_t *hash);

#endif
