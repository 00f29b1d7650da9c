// SPDX-License-Identifier: Apache-2.0
// Plain accesses of the usual sizes to cells with a usual past. What is not usual goes to shadow.c.
#include "past.h"
#include "places.h"
#include "readers.h"
#include "splits.h"

#include <string.h>

static inline bool is_plain_past(const struct ew_cell *cell, bool two) {
    return ew_past_is_plain(cell) && (!two || memcmp(&cell[0], &cell[1], sizeof *cell) == 0);
}

// Nothing but the past of its cells matters.
static inline bool is_ordinary(uintptr_t pc) {
    return !ew_shadow_filtered && !ew_place_may_be_shared(pc);
}

// The thread has read all of it before, since it was last written: then it knows of that write.
static inline bool is_reader(const struct ew_cell *cell) {
    return ew_has_readers(cell->read) && ew_slot < EW_READERS_SLOTS &&
           (*ew_reader(cell->read, ew_slot) & EW_BYTES) == EW_BYTES;
}

static inline void read_again(const struct ew_cell *cell) {
    *ew_reader(cell->read, ew_slot) = ew_current;
}

// Both cells of eight bytes mostly have the same past, of one thread that is known.
#define COMMON(name, bytes_, op_, field)                                                           \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        struct ew_cell *cell = ew_cell_at(address);                                                \
        const bool two = (bytes_) == 8, reads = (op_) == EW_OP_LOAD;                               \
        if (UNLIKELY((address & ((bytes_) - 1)) != 0 || !is_ordinary(pc))) {                       \
            ew_shadow_look(op_, (const void *)address, bytes_, (const void *)pc);                  \
        } else if (reads && is_reader(cell) && (!two || is_reader(cell + 1))) {                    \
            read_again(cell);                                                                      \
            if (two)                                                                               \
                read_again(cell + 1);                                                              \
        } else if (LIKELY(is_plain_past(cell, two))) {                                             \
            cell[0].field = ew_current;                                                            \
            if (two)                                                                               \
                cell[1].field = ew_current;                                                        \
        } else {                                                                                   \
            ew_shadow_look(op_, (const void *)address, bytes_, (const void *)pc);                  \
        }                                                                                          \
    }
COMMON(read4, 4, EW_OP_LOAD, read)
COMMON(read8, 8, EW_OP_LOAD, read)
COMMON(write4, 4, EW_OP_STORE, write)
COMMON(write8, 8, EW_OP_STORE, write)

// Bytes of one cell: what the thread has touched there before in this segment, or nothing that has
// other bytes.
static inline bool add_bytes(uint32_t *entry, uint32_t bytes) {
    uint32_t mine = (ew_current & ~EW_BYTES) | bytes;
    if ((*entry ^ mine) <= EW_BYTES)
        *entry |= bytes;
    else if (*entry & EW_BYTES & ~bytes)
        return false;
    else
        *entry = mine;
    return true;
}

// One byte of a cell that is split.
static inline bool add_byte(struct ew_cell *cell, uintptr_t address, bool reads) {
    struct ew_cell *of_byte = ew_split_of(cell) + (address & 3);
    uint32_t mine = (ew_current & ~EW_BYTES) | 1u << (address & 3);
    if (of_byte->write == mine || (reads && of_byte->read == mine))
        return true;
    if (!ew_past_is_plain(of_byte))
        return false;
    *(reads ? &of_byte->read : &of_byte->write) = mine;
    if (!reads)
        ew_split_settle(cell);
    return true;
}

#define PARTIAL(name, bytes_, op_, field)                                                          \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        struct ew_cell *cell = ew_cell_at(address & ~3ul);                                         \
        uint32_t bytes = ((1u << (bytes_)) - 1) << (address & 3);                                  \
        bool ordinary = bytes <= EW_BYTES && is_ordinary(pc);                                      \
        if (LIKELY(ordinary && ew_past_is_plain(cell)) && add_bytes(&cell->field, bytes))          \
            return;                                                                                \
        if ((bytes_) == 1 && ordinary && ew_is_split(cell->write) &&                               \
            add_byte(cell, address, (op_) == EW_OP_LOAD))                                          \
            return;                                                                                \
        ew_shadow_look(op_, (const void *)address, bytes_, (const void *)pc);                      \
    }
PARTIAL(read1, 1, EW_OP_LOAD, read)
PARTIAL(read2, 2, EW_OP_LOAD, read)
PARTIAL(write1, 1, EW_OP_STORE, write)
PARTIAL(write2, 2, EW_OP_STORE, write)
