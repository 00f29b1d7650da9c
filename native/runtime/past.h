// SPDX-License-Identifier: Apache-2.0
// The past of a cell of the shadow, whatever its form: one entry, or a set of them.
#ifndef EITHERWAY_PAST_H
#define EITHERWAY_PAST_H

#include "marks.h"
#include "shadow.h"

struct ew_past {
    const uint32_t *entries;
    uint32_t count, one;
};

void ew_past_look(uint32_t value, struct ew_past *past);

static inline bool ew_entry_is_known(uint32_t entry) {
    return ew_segment_is_known(ew_segment_of(entry));
}

// All that happened in it is known to the running thread, and it is no set.
static inline bool ew_past_is_plain(const struct ew_cell *cell) {
    return ew_segment_is_known(cell->write >> 4) && ew_segment_is_known(cell->read >> 4);
}

// A new one in the making: entries are kept one by one, then it takes the place of the old.
EW_DATA uint32_t *ew_past_kept, ew_past_count;
void ew_past_keep(uint32_t entry);
void ew_past_settle(uint32_t *side);
void ew_past_drop(uint32_t value);

// Sets that the running thread's segment is known to be in: number and segment, by number.
EW_DATA uint64_t ew_past_inside[256];

// Which regions of the shadow may hold cells that have something for themselves alone, to be given
// back with them: bytes, or readers.
#define EW_REGION (1ul << 17)
EW_DATA struct ew_marks ew_past_marks; // by region

static inline void ew_past_mark(const struct ew_cell *cell) {
    ew_mark(&ew_past_marks, (uintptr_t)cell / EW_REGION);
}

void ew_past_start(void);
void ew_past_forget(void);

// --- contested.c: cells on which threads raced, or that are touched where others were
//
// Every access to one is a decision point. An access that came before is not: when one such may
// conflict with another thread's, the guide is told that it is not covered.
#define EW_CONTESTED EW_ATOMIC // first in both sets of such a cell; it has no bytes

bool ew_is_contested(const struct ew_access *access);        // or where such are touched
void ew_contest(const struct ew_access *access, bool raced); // with a plain one

#endif
