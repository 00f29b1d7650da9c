// SPDX-License-Identifier: Apache-2.0
// Plain accesses of the usual sizes to cells with a usual past: what a hook does itself. What is
// not usual goes to shadow_usual.c, and from there to shadow.c.
//
// Each has two parts: whether the running thread has touched the same since its last release, for
// which one look will do, and else whether it knows all of the past. While nobody looks for races,
// all cells and the running thread's entry are zero, and the first part is true.
#ifndef EITHERWAY_USUAL_H
#define EITHERWAY_USUAL_H

#include "passing.h"
#include "places.h"

#include <string.h>

#define EW_USUAL static inline __attribute__((always_inline))

// Called last: so hooks need no frame.
void ew_usual_bytes(unsigned op, uintptr_t address, size_t size, uintptr_t pc);
void ew_usual_cells(unsigned op, uintptr_t address, size_t size, uintptr_t pc);

// --- one or two bytes: small fields side by side mostly have different pasts

EW_USUAL bool ew_put_bytes(struct ew_cell *cell, uint32_t byte, uint32_t size, bool writes) {
    bool narrow = writes && !ew_split_is_wide(cell);
    if (narrow &&
        UNLIKELY(!ew_narrow_write(ew_split_narrow(cell)->writes, ((1u << size) - 1) << byte)))
        return false;
    for (uint32_t i = 0; !narrow && i < size; i++)
        *(writes ? &ew_split_wide(cell)[byte + i].write : ew_split_read_of(cell, byte + i)) =
            ew_byte(byte + i);
    ew_split_know(cell);
    return true;
}

// A write of the last byte may make one cell of them again, when the first was written in the same
// segment: that is not done here.
EW_USUAL bool ew_split_bytes_pass(struct ew_cell *cell, uint32_t byte, uint32_t size, bool writes,
                                  uintptr_t pc) {
    bool mine = ew_split_is_mine(cell);
    if (mine && ew_split_is_done(cell, byte, writes) &&
        (size == 1 || ew_split_is_done(cell, byte + 1, writes)))
        return true;
    if (!ew_split_is_known(cell) || ew_place_may_be_shared(pc))
        return false;
    return ew_put_bytes(cell, byte, size, writes) &&
           (!mine || !writes || byte + size < 4 || !ew_split_is_done(cell, 0, true));
}

EW_USUAL void ew_usual_small(unsigned op, uintptr_t address, uint32_t size, uintptr_t pc) {
    struct ew_cell *cell = ew_cell_at(address & ~3ul);
    uint32_t byte = address & 3, bytes = ((1u << size) - 1) << byte;
    bool writes = op == EW_OP_STORE;
    if (size > 1 && UNLIKELY(byte + size > 4))
        ew_usual_bytes(op, address, size, pc);
    else if (ew_is_split(cell->write)
                 ? !ew_split_bytes_pass(cell, byte, size, writes, pc)
                 : ew_place_may_be_shared(pc) || !ew_part_passes(cell, bytes, writes))
        ew_usual_bytes(op, address, size, pc);
}

// What begins in the middle of a cell and does not end there is not done.
EW_USUAL bool ew_small_is_done(uintptr_t address, uint32_t size, bool writes) {
    const struct ew_cell *cell = ew_cell_at(address & ~3ul);
    uint32_t relevant = ~EW_BYTES | ((1u << size) - 1) << (address & 3);
    return (address & 3) + size <= 4 && (!((cell->write ^ ew_current) & relevant) ||
                                         (!writes && !((cell->read ^ ew_current) & relevant)));
}

// --- a whole cell

EW_USUAL bool ew_cell_is_done(uintptr_t address, bool writes) {
    const struct ew_cell *cell = ew_cell_at(address);
    return (address & 3) == 0 &&
           (cell->write == ew_current || (!writes && cell->read == ew_current));
}

EW_USUAL void ew_usual_whole(unsigned op, uintptr_t address, struct ew_cell *cell, uint32_t mine,
                             uintptr_t pc) {
    if (UNLIKELY(ew_place_may_be_shared(pc)) || !ew_whole_passes(cell, mine, op == EW_OP_STORE))
        ew_usual_cells(op, address, 4, pc);
}

EW_USUAL void ew_usual_cell(unsigned op, uintptr_t address, uintptr_t pc) {
    if (UNLIKELY(address & 3))
        ew_usual_cells(op, address, 4, pc);
    else
        ew_usual_whole(op, address, ew_cell_at(address), ew_current, pc);
}

// --- two of them: mostly they have the same past, and the same readers

EW_USUAL bool ew_two_are_done(uintptr_t address, bool writes) {
    const struct ew_cell *cell = ew_cell_at(address);
    return (address & 3) == 0 &&
           ((cell[0].write == ew_current && cell[1].write == ew_current) ||
            (!writes && cell[0].read == ew_current && cell[1].read == ew_current));
}

EW_USUAL bool ew_two_pass(struct ew_cell *cell, bool writes) {
    if (!writes && ew_has_readers(cell->read))
        return ew_whole_passes(&cell[0], ew_current, false) &&
               ew_whole_passes(&cell[1], ew_current, false);
    if (memcmp(&cell[0], &cell[1], sizeof *cell) != 0 || !ew_past_is_plain(cell))
        return false;
    *(writes ? &cell[0].write : &cell[0].read) = ew_current;
    *(writes ? &cell[1].write : &cell[1].read) = ew_current;
    return true;
}

EW_USUAL void ew_usual_two(unsigned op, uintptr_t address, uintptr_t pc) {
    if (UNLIKELY(address & 7 || ew_place_may_be_shared(pc)) ||
        !ew_two_pass(ew_cell_at(address), op == EW_OP_STORE))
        ew_usual_cells(op, address, 8, pc);
}

#endif
