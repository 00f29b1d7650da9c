// SPDX-License-Identifier: Apache-2.0
// Plain accesses of the usual sizes to cells with a usual past. What is not usual goes to shadow.c.
#include "passing.h"
#include "places.h"

#include <string.h>

// Nothing but the past of its cells matters.
static inline bool is_ordinary(uintptr_t pc) {
    return !ew_shadow_filtered && !ew_place_may_be_shared(pc);
}

// Small fields side by side mostly have different pasts.
static inline __attribute__((always_inline)) void put_bytes(struct ew_cell *cell, uint32_t byte,
                                                            uint32_t size, bool writes) {
    struct ew_cell *of_byte = &ew_split_of(cell)[byte];
    for (uint32_t i = 0; i < size; i++)
        *(writes ? &of_byte[i].write : &of_byte[i].read) = ew_byte(byte + i);
    ew_split_know(cell);
}

// A write of the last may make one cell of them again, which is not done here.
static inline __attribute__((always_inline)) bool
split_passes(struct ew_cell *cell, uint32_t byte, uint32_t size, bool writes, uintptr_t pc) {
    if (ew_split_is_mine(cell)) {
        if (ew_split_is_done(cell, byte, writes) &&
            (size == 1 || ew_split_is_done(cell, byte + 1, writes)))
            return true;
        if (writes && byte + size == 4)
            return false;
    }
    if (!ew_split_is_known(cell) || !is_ordinary(pc))
        return false;
    put_bytes(cell, byte, size, writes);
    return true;
}

static inline __attribute__((always_inline)) bool
small_passes(struct ew_cell *cell, uint32_t byte, uint32_t size, bool writes, uintptr_t pc) {
    if (ew_is_split(cell->write))
        return split_passes(cell, byte, size, writes, pc);
    return is_ordinary(pc) && ew_part_passes(cell, ((1u << size) - 1) << byte, writes);
}

// Apart, and called last: so the functions below need no frame.
static __attribute__((noinline)) void look_at_bytes(unsigned op, uintptr_t address, size_t size,
                                                    uintptr_t pc) {
    uint32_t bytes = ((1u << size) - 1) << (address & 3);
    if (bytes > EW_BYTES || !is_ordinary(pc) ||
        !ew_bytes_pass(ew_cell_at(address & ~3ul), bytes, op == EW_OP_STORE))
        ew_shadow_look(op, (const void *)address, size, (const void *)pc);
}

#define SMALL(name, size, op)                                                                      \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        struct ew_cell *cell = ew_cell_at(address & ~3ul);                                         \
        uint32_t byte = address & 3;                                                               \
        if (byte + (size) > 4 || !small_passes(cell, byte, size, (op) == EW_OP_STORE, pc))         \
            look_at_bytes(op, address, size, pc);                                                  \
    }
SMALL(read1, 1, EW_OP_LOAD)
SMALL(read2, 2, EW_OP_LOAD)
SMALL(write1, 1, EW_OP_STORE)
SMALL(write2, 2, EW_OP_STORE)

static __attribute__((noinline)) void look_at_cells(unsigned op, uintptr_t address, size_t size,
                                                    uintptr_t pc) {
    struct ew_cell *cell = ew_cell_at(address);
    bool writes = op == EW_OP_STORE;
    if (address & (size - 1) || !is_ordinary(pc) || !ew_cell_passes(cell, writes) ||
        (size == 8 && !ew_cell_passes(cell + 1, writes)))
        ew_shadow_look(op, (const void *)address, size, (const void *)pc);
}

// Both cells of eight bytes mostly have the same past, and the same readers.
static inline bool two_pass(struct ew_cell *cell, bool writes) {
    if (!writes && ew_has_readers(cell->read))
        return ew_whole_passes(&cell[0], false) && ew_whole_passes(&cell[1], false);
    if (memcmp(&cell[0], &cell[1], sizeof *cell) != 0 || !ew_past_is_plain(cell))
        return false;
    *(writes ? &cell[0].write : &cell[0].read) = ew_current;
    *(writes ? &cell[1].write : &cell[1].read) = ew_current;
    return true;
}

// What is read here is often where the program reads next: the cells of that are fetched while this
// goes on. It has not read it yet, and there may be nothing to read: see peek.c.
static inline void look_ahead(uintptr_t address) {
    uintptr_t there = 0;
    __asm__ volatile(".globl ew_glance_at, ew_glance_after\n"
                     ".hidden ew_glance_at, ew_glance_after\n"
                     "ew_glance_at: mov (%1), %0\n"
                     "ew_glance_after:"
                     : "+r"(there)
                     : "r"(address));
    there = there >> 32 ? there : address; // most often a number: it has no cells to look for
    __builtin_prefetch(ew_cell_at(there), 1);
}

__attribute__((noinline, noclone)) void ew_shadow_read8(uintptr_t address, uintptr_t pc) {
    look_ahead(address);
    if (UNLIKELY(address & 7 || !is_ordinary(pc)) || !two_pass(ew_cell_at(address), false))
        look_at_cells(EW_OP_LOAD, address, 8, pc);
}

#define WHOLE(name, size, op, pass)                                                                \
    void ew_shadow_##name(uintptr_t address, uintptr_t pc) {                                       \
        if (UNLIKELY(address & ((size) - 1) || !is_ordinary(pc)) ||                                \
            !pass(ew_cell_at(address), (op) == EW_OP_STORE))                                       \
            look_at_cells(op, address, size, pc);                                                  \
    }
WHOLE(read4, 4, EW_OP_LOAD, ew_whole_passes)
WHOLE(write4, 4, EW_OP_STORE, ew_whole_passes)
WHOLE(write8, 8, EW_OP_STORE, two_pass)
