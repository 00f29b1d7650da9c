// SPDX-License-Identifier: Apache-2.0
// Sets of entries, for cells whose past does not fit into one. Equal sets are one and the same.
#ifndef EITHERWAY_SETS_H
#define EITHERWAY_SETS_H

#include <stdbool.h>
#include <stdint.h>

// A set of a cell's own has an entry for each of the first slots, changed in place: for places that
// many threads read in short segments, where a new set for each read would cost more.
#define EW_OWN_SLOTS 12

struct ew_set {
    uint32_t uses; // EW_OWN: of one cell's own
    uint32_t next; // in its chain
    uint32_t hash;
    uint32_t count;
    uint32_t entries[]; // in the order of arrival
};
#define EW_OWN UINT32_MAX

struct ew_set *ew_set_at(uint32_t number);
uint32_t ew_set_of(const uint32_t *entries, uint32_t count); // counts as used once more
uint32_t ew_set_own(void);                                   // all zero
void ew_set_drop(uint32_t number);
void ew_sets_start(void);
void ew_sets_forget(void);

#endif
