// SPDX-License-Identifier: Apache-2.0
// Plain accesses to bytes whose whole past the running thread knows: nothing can race with it, and
// they become the last entry there. What does not pass is looked at in shadow.c.
#ifndef EITHERWAY_PASSING_H
#define EITHERWAY_PASSING_H

#include "past.h"
#include "readers.h"
#include "splits.h"

// Some bytes of a cell that is split, one by one.
bool ew_split_each_passes(struct ew_cell *cell, uint32_t bytes, bool writes);

// The running thread's entry for one byte of a cell.
static inline uint32_t ew_byte(uint32_t byte) {
    return (ew_current & ~EW_BYTES) | 1u << byte;
}

static inline bool ew_narrow_is_written(const uint32_t *writes, uint32_t mine) {
    return ((writes[0] ^ mine) <= EW_BYTES && writes[0] & mine & EW_BYTES) ||
           ((writes[1] ^ mine) <= EW_BYTES && writes[1] & mine & EW_BYTES);
}

// A byte of a split cell, which the thread has touched before in this segment.
static inline bool ew_split_is_done(const struct ew_cell *cell, uint32_t byte, bool writes) {
    uint32_t mine = ew_byte(byte);
    return (!writes && *ew_split_read_of(cell, byte) == mine) ||
           (ew_split_is_wide(cell) ? ew_split_wide(cell)[byte].write == mine
                                   : ew_narrow_is_written(ew_split_narrow(cell)->writes, mine));
}

// The running thread, which knows who has written these bytes before, is the last now. Not where
// both entries go on to be needed.
static inline bool ew_narrow_write(uint32_t *writes, uint32_t bytes) {
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    uint32_t first = writes[0] & ~bytes, second = writes[1] & ~bytes;
    if (!(first & EW_BYTES) || (first ^ mine) <= EW_BYTES)
        first = first & EW_BYTES ? first | mine : mine;
    else if (!(second & EW_BYTES) || (second ^ mine) <= EW_BYTES)
        second = second & EW_BYTES ? second | mine : mine;
    else
        return false;
    writes[0] = first;
    writes[1] = second;
    return true;
}

// The thread has read the same before, since it was last written: then it knows of that write.
static inline bool ew_reader_passes(const struct ew_cell *cell, uint32_t mine) {
    if (!ew_has_readers(cell->read))
        return false;
    uint32_t *entry = ew_reader_mine(cell->read);
    if ((*entry ^ mine) & (EW_UNAWARE | EW_ATOMIC | EW_BYTES))
        return false;
    *entry = mine;
    return true;
}

// The same, whether or not it has.
static inline bool ew_byte_passes(struct ew_cell *of_byte, uint32_t mine, bool writes) {
    if (of_byte->write == mine || (!writes && of_byte->read == mine))
        return true;
    if (!ew_past_is_plain(of_byte))
        return !writes && ew_reader_passes(of_byte, mine);
    *(writes ? &of_byte->write : &of_byte->read) = mine;
    return true;
}

// Some bytes of a cell that is split, and known. The others stay what they are.
static inline void ew_split_put(struct ew_cell *cell, uint32_t bytes, bool writes) {
    bool narrow = writes && !ew_split_is_wide(cell);
    if (narrow && UNLIKELY(!ew_narrow_write(ew_split_narrow(cell)->writes, bytes))) {
        ew_split_widen(cell);
        narrow = false;
    }
    for (uint32_t byte = 0; !narrow && byte < 4; byte++)
        if (bytes >> byte & 1)
            *(writes ? &ew_split_wide(cell)[byte].write : ew_split_read_of(cell, byte)) =
                ew_byte(byte);
    ew_split_know(cell);
}

// When all bytes of a split cell are known, and none is of this segment, nothing of them needs to
// be read: they are not waited for.
static inline bool ew_split_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    if (!ew_split_is_known(cell))
        return ew_split_each_passes(cell, bytes, writes);
    if (writes && bytes == EW_BYTES) {
        ew_split_give_back(cell);
        *cell = (struct ew_cell){ew_current, 0};
        return true;
    }
    if (ew_split_is_mine(cell))
        return ew_split_each_passes(cell, bytes, writes);
    ew_split_put(cell, bytes, writes);
    return true;
}

// All of a cell that is not split; `mine` is the running thread's entry.
static inline bool ew_whole_passes(struct ew_cell *cell, uint32_t mine, bool writes) {
    if (!writes && ew_has_readers(cell->read))
        return ew_reader_passes(cell, mine);
    if (UNLIKELY(!ew_past_is_plain(cell)))
        return false;
    *(writes ? &cell->write : &cell->read) = mine;
    return true;
}

static inline bool ew_cell_passes(struct ew_cell *cell, bool writes) {
    return ew_is_split(cell->write) ? ew_split_passes(cell, EW_BYTES, writes)
                                    : ew_whole_passes(cell, ew_current, writes);
}

// Some bytes of one that is not split, and need not be.
static inline bool ew_part_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    uint32_t *entry = writes ? &cell->write : &cell->read;
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    if (UNLIKELY(!ew_past_is_plain(cell)))
        return false;
    if ((*entry ^ mine) <= EW_BYTES)
        mine |= *entry;
    else if (*entry & EW_BYTES & ~bytes)
        return false;
    *entry = mine;
    return true;
}

static inline bool ew_bytes_pass(struct ew_cell *cell, uint32_t bytes, bool writes) {
    if (!ew_is_split(cell->write)) {
        if (ew_part_passes(cell, bytes, writes))
            return true;
        if (!ew_past_is_plain(cell))
            return false;
        ew_split_for(cell, bytes, writes);
        return true;
    }
    return ew_split_passes(cell, bytes, writes);
}

#endif
