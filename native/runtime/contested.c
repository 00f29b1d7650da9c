// SPDX-License-Identifier: Apache-2.0
#include "guide.h"
#include "marks.h"
#include "past.h"
#include "places.h"
#include "sets.h"
#include "splits.h"

// Which lines of memory may hold some.
#define LINE 64u
EW_LARGE static struct ew_marks lines;

static bool is_contested(const struct ew_cell *cell) {
    return cell->write & EW_SET && !ew_is_split(cell->write) && cell->write != EW_ALLOCATORS &&
           ew_set_at(cell->write & ~EW_SET)->entries[0] == EW_CONTESTED;
}

static void keep_uncontested(uint32_t *side) {
    struct ew_past past;
    ew_past_look(*side, &past);
    ew_past_count = 0;
    for (uint32_t i = 0; i < past.count; i++)
        if (past.entries[i] != EW_CONTESTED)
            ew_past_keep(past.entries[i]);
    ew_past_settle(side);
}

static bool let_part_pass(const struct ew_access *access) {
    for (uintptr_t at = access->address & ~3ul; at < access->address + access->size; at += 4) {
        struct ew_cell *cell = ew_cell_at(at);
        if (!is_contested(cell))
            continue;
        keep_uncontested(&cell->write);
        keep_uncontested(&cell->read);
        if (cell->write & EW_SET)
            ew_split_sets(cell);
    }
    return false;
}

// The place has been a decision point so often that it is none any more, and neither is the memory
// that it touches until others race on it again. Of a long run, it would be most of the time.
static void let_pass(const struct ew_access *access) {
    ew_guide_uncovered();
    ew_look_at_touched(access, let_part_pass);
}

static bool touches_contested(const struct ew_access *access) {
    uintptr_t end = access->address + access->size;
    for (uintptr_t at = access->address & ~3ul; at < end; at += 4)
        if (!ew_is_marked(&lines, at / LINE))
            at |= LINE - 4;
        else if (is_contested(ew_cell_at(at)))
            return true;
    return false;
}

bool ew_is_contested(const struct ew_access *access) {
    if (LIKELY(!ew_places_any))
        return false;
    bool large = UNLIKELY(access->size >= EW_LARGE_BLOCK);
    bool contested =
        large ? ew_look_at_touched(access, touches_contested) : touches_contested(access);
    if (!contested && !ew_place_is_shared(access->pc))
        return false;
    if (LIKELY(ew_place_decides(access->pc)))
        return true;
    let_pass(access);
    return false;
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
    if (ew_is_split(cell->write))
        ew_split_unite(cell);
    if (raced || has_open_past(cell->write) || has_open_past(cell->read))
        ew_guide_uncovered();
    contest_side(&cell->write);
    contest_side(&cell->read);
}

EW_COLD void ew_contest(const struct ew_access *access, bool raced) {
    if (ew_place_is_tired(access->pc))
        return;
    ew_places_any = true;
    for (uintptr_t at = access->address & ~3ul; at < access->address + access->size; at += 4) {
        ew_mark(&lines, at / LINE);
        contest(ew_cell_at(at), raced);
    }
    ew_clocks_shared();
}
