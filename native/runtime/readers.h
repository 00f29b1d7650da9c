// SPDX-License-Identifier: Apache-2.0
// Who has read a cell that several threads read in short segments: a new set for each read would
// cost more than an entry for each slot, changed in place.
//
// The entries of one slot lie together: a thread that reads cells side by side finds its own
// entries side by side, and where few threads read, few are there.
#ifndef EITHERWAY_READERS_H
#define EITHERWAY_READERS_H

#include "raw.h"

#define EW_READERS_SLOTS 64   // threads in slots beyond are in sets
#define EW_UNAWARE (1u << 31) // in an entry: it did not know of the last write, and raced with it
#define EW_READERS_MAX                                                                             \
    (1u << 28) // who keeps a number may use the bits above, and need not clear them

// By slot and number. The distance between slots is odd, lest all of one number lie in lines that
// keep each other out of the caches.
#define EW_READERS_STRIDE (EW_READERS_MAX + 1024 + 80)
EW_DATA uint32_t *ew_readers_entries;
EW_DATA uint32_t *ew_readers_mine;  // those of the running thread's slot
EW_DATA uint64_t *ew_readers_slots; // by number: in which there is an entry

static inline uint32_t *ew_reader(uint32_t number, uint32_t slot) {
    return &ew_readers_entries[(size_t)slot * EW_READERS_STRIDE + (number & (EW_READERS_MAX - 1))];
}

// What the running thread has there. Slots beyond have one in common, in which nothing is ever.
static inline uint32_t *ew_reader_mine(uint32_t number) {
    return &ew_readers_mine[number & (EW_READERS_MAX - 1)];
}

static inline void ew_readers_are_of(uint32_t slot) {
    ew_readers_mine = ew_reader(0, slot < EW_READERS_SLOTS ? slot : EW_READERS_SLOTS);
}

static inline void ew_reader_put(uint32_t number, uint32_t slot, uint32_t entry) {
    uint32_t *place = ew_reader(number, slot);
    if (!*place)
        ew_readers_slots[number & (EW_READERS_MAX - 1)] |= 1ul << slot;
    *place = entry;
}

uint32_t ew_readers_create(void); // without any
void ew_readers_drop(uint32_t number);
// How many there are; they are good until the next call.
uint32_t ew_readers_list(uint32_t number, const uint32_t **entries);
void ew_readers_start(void);
void ew_readers_forget(void); // all of them

#endif
