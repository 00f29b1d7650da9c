// SPDX-License-Identifier: Apache-2.0
// Pairs of operations on one object, of different threads, one right after the other, that are not
// both loads: which of them runs have shown, and in which orders. The guide keeps them.
#ifndef EITHERWAY_PAIRS_H
#define EITHERWAY_PAIRS_H

#include "runtime.h"

extern bool ew_pairs_wanted;

void ew_pair_note(const void *object, const void *pc, bool changes);
static inline void ew_pair(const void *object, const void *pc, bool changes) {
    if (UNLIKELY(ew_pairs_wanted))
        ew_pair_note(object, pc, changes);
}

void ew_pairs_begin(void);

#endif
