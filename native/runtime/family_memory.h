// SPDX-License-Identifier: Apache-2.0
// The memory of a run as its processes see it: what format/recording.toml says of the family.
#ifndef EITHERWAY_FAMILY_MEMORY_H
#define EITHERWAY_FAMILY_MEMORY_H

#include "family.h"

enum { EW_BEGAN = 1, EW_HAS_ENDED, EW_BECAME, EW_NEVER_CAME }; // state of a member
#define EW_NO_SLOT UINT32_MAX

struct ew_slot {
    struct ew_member member;
    struct ew_schedule_head schedule;
    struct ew_inputs_head inputs;
};

struct ew_family {
    const char *path; // NULL: there is none
    struct ew_family_head *head;
    struct ew_slot *slots;
    char *area; // of one slot
    uintptr_t place;
};

EW_DATA struct ew_family ew_noted, ew_given; // what is done, and in a replay what was done
EW_DATA struct ew_slot *ew_own;              // of this process; never NULL

int ew_memory_open(const struct ew_family *family, bool writable);
void ew_memory_map_slots(struct ew_family *family, int descriptor, bool writable);
void ew_memory_map_area(struct ew_family *family, int descriptor, uint32_t slot, bool writable);
struct ew_schedule_switch *ew_memory_switches(const struct ew_family *family);
char *ew_memory_items(const struct ew_family *family);
struct ew_found_row *ew_memory_rows(const struct ew_family *family);

uint32_t ew_memory_used(const struct ew_family *family);  // slots
uint32_t ew_memory_number_of(const struct ew_slot *slot); // EW_NO_SLOT: in no family

// Writes the name and the number; returns the end, which is zero.
char *ew_write_number(char *at, const char *name, uint64_t value);

#endif
