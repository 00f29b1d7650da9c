// SPDX-License-Identifier: Apache-2.0
// Shared places: where in the code accesses were seen to race, in this run or an earlier one.
//
// A place is a return address of a hook, by its file and its offset in there:
//     35..12 hash of file and offset | 11..0 offset
// The lowest bits are those of the address itself, wherever the file lies. So most addresses are
// known not to be among them by one bit. It is short because tokens hold places.
#ifndef EITHERWAY_PLACES_H
#define EITHERWAY_PLACES_H

#include "runtime.h"

#define EW_PLACE_HASH 0xFFFFFF000ul

EW_DATA uint64_t ew_places_bits[64]; // by the lowest twelve bits of the address
EW_DATA bool ew_places_any;

bool ew_place_look_up(uintptr_t pc);

EW_DATA bool ew_places_filtered; // any may be: annotations say which accesses are not looked at
void ew_places_filter(void);

static inline bool ew_place_may_be_shared(uintptr_t pc) {
    return UNLIKELY(ew_places_bits[(pc >> 6) & 63] >> (pc & 63) & 1);
}

// Counts a decision there; false when there have been so many that it is to be none. Places are
// counted together when they have their lowest twelve bits in common.
bool ew_place_decides(uintptr_t pc);
bool ew_place_is_tired(uintptr_t pc);

static inline bool ew_place_is_shared(uintptr_t pc) {
    return ew_place_may_be_shared(pc) && !ew_place_is_tired(pc) && ew_place_look_up(pc);
}

void ew_place_add(uintptr_t pc); // an access there races
void ew_places_begin(void);      // with those that are given

#endif
