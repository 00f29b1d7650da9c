// SPDX-License-Identifier: Apache-2.0
// Sets of entries, for cells whose past does not fit into one. Equal sets are one and the same.
#ifndef EITHERWAY_SETS_H
#define EITHERWAY_SETS_H

#include <stdint.h>

struct ew_set {
    uint32_t uses;
    uint32_t next; // in its chain
    uint32_t hash;
    uint32_t count;
    uint32_t entries[]; // in the order of arrival
};

struct ew_set *ew_set_at(uint32_t number);
uint32_t ew_set_of(const uint32_t *entries, uint32_t count); // counts as used once more
void ew_set_drop(uint32_t number);
void ew_sets_start(void);
void ew_sets_forget(void);

#endif
