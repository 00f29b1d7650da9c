// SPDX-License-Identifier: Apache-2.0
// Plain accesses of the usual sizes to cells with a usual past. What is not usual goes to shadow.c.
#include "passing.h"
#include "places.h"

#include <string.h>

// Nothing but the past of its cells matters.
static inline bool is_ordinary(uintptr_t pc) {
    return !ew_shadow_filtered && !ew_place_may_be_shared(pc);
}

// Two bytes of one field mostly have the same past.
static inline bool two_bytes_pass(struct ew_cell *of_bytes, uint32_t byte, bool writes) {
    struct ew_cell *one = &of_bytes[byte], *other = one + 1;
    if ((one->write ^ other->write) > EW_BYTES || (one->read ^ other->read) > EW_BYTES ||
        !ew_past_is_plain(one))
        return false;
    *(writes ? &one->write : &one->read) = ew_byte(byte);
    *(writes ? &other->write : &other->read) = ew_byte(byte + 1);
    return true;
}

// Small fields side by side mostly have different pasts. A write of the last may make one cell of
// them again, which is not done here.
static inline __attribute__((always_inline)) bool
split_passes(const struct ew_cell *cell, uint32_t byte, uint32_t size, bool writes, uintptr_t pc) {
    struct ew_cell *of_bytes = ew_split_of(cell);
    uint32_t first = of_bytes->write;
    if (writes && byte + size == 4 && (!first || (first ^ ew_current) <= EW_BYTES))
        return false;
    if (size == 2)
        return is_ordinary(pc) && two_bytes_pass(of_bytes, byte, writes);
    return ew_split_is_done(cell, byte, writes) ||
           (is_ordinary(pc) && ew_byte_passes(&of_bytes[byte], ew_byte(byte), writes));
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
