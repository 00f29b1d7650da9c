// SPDX-License-Identifier: Apache-2.0
// Plain accesses to bytes whose whole past the running thread knows: nothing can race with it, and
// they become the last entry there. What does not pass is looked at in shadow.c.
#ifndef EITHERWAY_PASSING_H
#define EITHERWAY_PASSING_H

#include "past.h"
#include "readers.h"
#include "splits.h"

// Some bytes of a cell that is split.
bool ew_split_passes(struct ew_cell *cell, uint32_t bytes, bool writes);

// A byte of such, which the thread has touched before in this segment.
static inline bool ew_split_is_done(const struct ew_cell *cell, uint32_t byte, bool writes) {
    const struct ew_cell *of_byte = &ew_split_of(cell)[byte];
    uint32_t mine = (ew_current & ~EW_BYTES) | 1u << byte;
    return of_byte->write == mine || (!writes && of_byte->read == mine);
}

// The thread has read the same before, since it was last written: then it knows of that write.
static inline bool ew_reader_passes(const struct ew_cell *cell, uint32_t mine) {
    if (!ew_has_readers(cell->read) || ew_slot >= EW_READERS_SLOTS)
        return false;
    uint32_t *entry = ew_reader(cell->read, ew_slot);
    if ((*entry ^ mine) & (EW_ATOMIC | EW_BYTES))
        return false;
    *entry = mine;
    return true;
}

static inline bool ew_cell_passes(struct ew_cell *cell, bool writes) {
    if (LIKELY(ew_past_is_plain(cell)))
        *(writes ? &cell->write : &cell->read) = ew_current;
    else if (ew_is_split(cell->write))
        return ew_split_passes(cell, EW_BYTES, writes);
    else
        return !writes && ew_reader_passes(cell, ew_current);
    return true;
}

// Bytes that others of the cell have nothing to do with have to have a past of their own.
static inline bool ew_bytes_pass(struct ew_cell *cell, uint32_t bytes, bool writes) {
    uint32_t *entry = writes ? &cell->write : &cell->read;
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    if (ew_is_split(cell->write))
        return ew_split_passes(cell, bytes, writes);
    if (UNLIKELY(!ew_past_is_plain(cell)))
        return false;
    if ((*entry ^ mine) <= EW_BYTES)
        *entry |= bytes;
    else if (*entry & EW_BYTES & ~bytes)
        ew_split(cell), ew_split_passes(cell, bytes, writes);
    else
        *entry = mine;
    return true;
}

#endif
