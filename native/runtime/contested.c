// SPDX-License-Identifier: Apache-2.0
#include "guide.h"
#include "past.h"
#include "places.h"
#include "sets.h"

static bool is_contested(const struct ew_cell *cell) {
    return cell->write & EW_SET && ew_set_at(cell->write & ~EW_SET)->entries[0] == EW_CONTESTED;
}

bool ew_is_contested(const struct ew_access *access) {
    if (LIKELY(!ew_places_any))
        return false;
    for (uintptr_t at = access->address & ~3ul; at < access->address + access->size; at += 4)
        if (is_contested(ew_cell_at(at)))
            return true;
    return ew_place_is_shared(access->pc);
}

// Entries of others that the running thread does not follow: they may still be raced with.
static bool has_open_past(uint32_t value) {
    struct ew_past past;
    ew_past_look(value, &past);
    for (uint32_t i = 0; i < past.count; i++)
        if (past.entries[i] & EW_BYTES && !(past.entries[i] & EW_ATOMIC) &&
            !ew_entry_is_known(past.entries[i]))
            return true;
    return false;
}

static void contest_side(uint32_t *side) {
    struct ew_past past;
    ew_past_look(*side, &past);
    ew_past_count = 0;
    ew_past_keep(EW_CONTESTED);
    for (uint32_t i = 0; i < past.count; i++)
        if (past.entries[i])
            ew_past_keep(past.entries[i]);
    ew_past_settle(side);
}

static void contest(struct ew_cell *cell, bool raced) {
    if (is_contested(cell) || cell->read == EW_FREED)
        return;
    if (raced || has_open_past(cell->write) || has_open_past(cell->read))
        ew_guide_uncovered();
    contest_side(&cell->write);
    contest_side(&cell->read);
}

EW_COLD void ew_contest(const struct ew_access *access, bool raced) {
    ew_places_any = true;
    for (uintptr_t at = access->address & ~3ul; at < access->address + access->size; at += 4)
        contest(ew_cell_at(at), raced);
}
