// SPDX-License-Identifier: Apache-2.0
// For each aligned four bytes of the program's memory, who wrote and who read them last.
//
// An *entry* is a segment with the bytes that it touched:
//     31 set | 30 atomic | 29..4 segment | 3..0 bytes
// and a cell holds one for writes and one for reads. With bit 31 it is the number of a set of
// entries: several readers that do not know of each other, bytes with different pasts, or a place
// at which every access is looked at.
//     31 set | 30 0 | 29 the cell's own readers | 28 split: | 27 wide | 26..0 number
#ifndef EITHERWAY_SHADOW_H
#define EITHERWAY_SHADOW_H

#include "clocks.h"

#define EW_SET 0x80000000u
#define EW_ATOMIC 0x40000000u
#define EW_READERS 0x20000000u
#define EW_BYTES 15u
#define EW_FREED UINT32_MAX // read of a cell whose memory was given back; its write says by whom
#define EW_ALLOCATORS UINT32_MAX // its write, when it never was the program's

struct ew_cell {
    uint32_t write, read;
};

// Two bytes for each, at 2^45. Programs live in three windows (below 4 GiB, at 0x55.., at 0x7e..)
// that do not meet in the lower 44 bits of their addresses.
#define EW_SHADOW_BASE (1ul << 45)
#define EW_SHADOW_SIZE (1ul << 45)
static inline struct ew_cell *ew_cell_at(uintptr_t address) {
    return (struct ew_cell *)((address << 20 >> 19) | EW_SHADOW_BASE);
}

static inline uint32_t ew_segment_of(uint32_t entry) {
    return (entry & ~(EW_SET | EW_ATOMIC)) >> 4;
}

static inline bool ew_has_readers(uint32_t value) {
    return (value & (EW_SET | EW_ATOMIC | EW_READERS)) == (EW_SET | EW_READERS);
}

struct ew_access {
    uintptr_t address;
    size_t size;
    uintptr_t pc;
    uint8_t op; // EW_OP_LOAD, EW_OP_STORE or EW_OP_UPDATE
    bool atomic;
};

// --- touched.c
#define EW_LARGE_BLOCK (1ul << 20) // beyond, pages of the shadow are given back instead of written
// Looks at each part of the block that was touched, and at all of one that is not large; until a
// look says that it is enough, which is returned.
typedef bool ew_look(const struct ew_access *part);
bool ew_look_at_touched(const struct ew_access *access, ew_look *look);

// An access to be checked against the past, and to become part of it.
void ew_shadow_access(const struct ew_access *access);

// An atomic look at the first byte of a lock, which most often its last owner has done.
void ew_shadow_use(uintptr_t address, uintptr_t pc);

// Whether nothing but the past of its cells matters, and the running thread knows all of that: then
// that was all. A look at a part of it does no harm.
bool ew_shadow_passes(unsigned op, const void *address, size_t size, const void *pc);

// A plain one that a hook could not pass.
void ew_shadow_look(unsigned op, const void *address, size_t size, const void *pc);

// Fresh memory: nobody has touched it yet, but for the running thread if `mine`.
void ew_shadow_fresh(uintptr_t address, size_t size, bool mine);
void ew_shadow_free(const struct ew_access *access); // a write to all of it, then it is given back
void ew_shadow_freed(uintptr_t address, size_t size);

// A block of the heap is known by the cell before it, of memory that is the allocator's.
enum ew_heap { EW_HEAP_UNKNOWN, EW_HEAP_LIVES, EW_HEAP_FREED };
#define EW_HEAP_HEAD 8 // bytes
static inline void ew_shadow_heap(uintptr_t block) {
    *ew_cell_at(block - EW_HEAP_HEAD) = (struct ew_cell){EW_ALLOCATORS, EW_FREED};
}

static inline void ew_shadow_heap_freed(uintptr_t block) {
    *ew_cell_at(block - EW_HEAP_HEAD) = (struct ew_cell){ew_current & ~EW_BYTES, EW_FREED};
}

static inline enum ew_heap ew_shadow_heap_at(uintptr_t block) {
    const struct ew_cell *head = ew_cell_at(block - EW_HEAP_HEAD);
    if (head->read != EW_FREED)
        return EW_HEAP_UNKNOWN;
    return head->write == EW_ALLOCATORS ? EW_HEAP_LIVES : EW_HEAP_FREED;
}

void ew_shadow_start(void);
void ew_shadow_forget(void); // all of it

#endif
