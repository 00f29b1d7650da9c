// SPDX-License-Identifier: Apache-2.0
// Plain accesses of the usual sizes to cells with a usual past. What is not usual goes to shadow.c.
#include "passing.h"
#include "places.h"

#include <string.h>

// Nothing but the past of its cells matters.
static inline bool is_ordinary(uintptr_t pc) {
    return !ew_shadow_filtered && !ew_place_may_be_shared(pc);
}

// Both cells of eight bytes mostly have the same past.
static inline bool two_pass(struct ew_cell *cell, bool writes) {
    if (memcmp(&cell[0], &cell[1], sizeof *cell) != 0 || !ew_past_is_plain(cell))
        return ew_cell_passes(&cell[0], writes) && ew_cell_passes(&cell[1], writes);
    *(writes ? &cell[0].write : &cell[0].read) = ew_current;
    *(writes ? &cell[1].write : &cell[1].read) = ew_current;
    return true;
}

// Small fields side by side mostly have different pasts.
static inline bool is_done_in_split(const struct ew_cell *cell, uint32_t byte, uint32_t size,
                                    bool writes) {
    return ew_is_split(cell->write) && ew_split_is_done(cell, byte, writes) &&
           (size == 1 || ew_split_is_done(cell, byte + 1, writes));
}

#define SMALL(name, size, op)                                                                      \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        struct ew_cell *cell = ew_cell_at(address & ~3ul);                                         \
        uint32_t byte = address & 3, bytes = ((1u << (size)) - 1) << byte;                         \
        const bool writes = (op) == EW_OP_STORE;                                                   \
        if (bytes <= EW_BYTES && is_done_in_split(cell, byte, size, writes))                       \
            return;                                                                                \
        if (UNLIKELY(bytes > EW_BYTES || !is_ordinary(pc)) || !ew_bytes_pass(cell, bytes, writes)) \
            ew_shadow_look(op, (const void *)address, size, (const void *)pc);                     \
    }
SMALL(read1, 1, EW_OP_LOAD)
SMALL(read2, 2, EW_OP_LOAD)
SMALL(write1, 1, EW_OP_STORE)
SMALL(write2, 2, EW_OP_STORE)

#define WHOLE(name, size, op, pass)                                                                \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        struct ew_cell *cell = ew_cell_at(address);                                                \
        if (UNLIKELY(address & ((size) - 1) || !is_ordinary(pc)) ||                                \
            !pass(cell, (op) == EW_OP_STORE))                                                      \
            ew_shadow_look(op, (const void *)address, size, (const void *)pc);                     \
    }
WHOLE(read4, 4, EW_OP_LOAD, ew_cell_passes)
WHOLE(read8, 8, EW_OP_LOAD, two_pass)
WHOLE(write4, 4, EW_OP_STORE, ew_cell_passes)
WHOLE(write8, 8, EW_OP_STORE, two_pass)
