// SPDX-License-Identifier: Apache-2.0
// The shadow of memory that comes and goes.
#include "past.h"
#include "splits.h"

#include <sys/mman.h>

static size_t cells_of(uintptr_t address, size_t size) {
    return ((address & 3) + size + 3) / 4;
}

static uint64_t value_of(const struct ew_cell *cell) {
    typedef uint64_t __attribute__((may_alias)) both;
    return *(const both *)cell;
}

static bool has_set(const struct ew_cell *cell) {
    return (cell->write & EW_SET && cell->write != EW_ALLOCATORS) ||
           (cell->read & EW_SET && cell->read != EW_FREED);
}

// Cells side by side are mostly equal, and each value is looked at once.
static void fill_cells(struct ew_cell *cell, const struct ew_cell *end, struct ew_cell value) {
    uint64_t without_set = 0;
    for (; cell < end; cell++) {
        uint64_t old = value_of(cell);
        if (old != without_set) {
            if (ew_is_split(cell->write)) {
                ew_split_drop(cell);
            } else if (UNLIKELY(has_set(cell))) {
                ew_past_drop(cell->write);
                ew_past_drop(cell->read);
            } else {
                without_set = old;
            }
        }
        *cell = value;
    }
}

static void fill(uintptr_t address, size_t size, struct ew_cell value) {
    struct ew_cell *cell = ew_cell_at(address & ~3ul);
    fill_cells(cell, cell + cells_of(address, size), value);
}

// Of what lies in this part of a region.
static void give_back(uintptr_t from, uintptr_t to) {
    if (!ew_is_marked(&ew_past_marks, from / EW_REGION))
        return;
    fill_cells((struct ew_cell *)from, (struct ew_cell *)to, (struct ew_cell){0});
    if (to - from == EW_REGION)
        ew_unmark(&ew_past_marks, from / EW_REGION);
}

// Of sets nothing is given back: they are few, as equal ones are one.
static void discard(uintptr_t address, size_t size) {
    uintptr_t from = (uintptr_t)ew_cell_at(address & ~3ul), to = from + size * 2;
    uintptr_t first = (from + 4095) & ~4095ul, last = to & ~4095ul;
    for (uintptr_t at = first, next; at < last; at = next) {
        next = (at | (EW_REGION - 1)) + 1;
        give_back(at, next < last ? next : last);
    }
    fill(address, (first - from) / 2, (struct ew_cell){0});
    fill(address + (last - from) / 2, (to - last) / 2, (struct ew_cell){0});
    raw3(SYS_madvise, (long)first, (long)(last - first), MADV_DONTNEED);
}

void ew_shadow_fresh(uintptr_t address, size_t size, bool mine) {
    if (size >= EW_LARGE_BLOCK)
        discard(address, size);
    else
        fill(address, size, (struct ew_cell){mine ? ew_current : 0, 0});
}

// As a write to all of it; mostly the running thread knows all that was done there.
static bool is_all_plain(const struct ew_cell *cell, size_t count) {
    uint64_t plain = 0;
    for (; count--; cell++) {
        uint64_t value = value_of(cell);
        if (value != plain && !ew_past_is_plain(cell))
            return false;
        plain = value;
    }
    return true;
}

// Without bytes, lest a hook take it for the running thread's own access.
void ew_shadow_freed(uintptr_t address, size_t size) {
    if (size >= EW_LARGE_BLOCK)
        discard(address, size);
    else
        fill(address, size, (struct ew_cell){ew_current & ~EW_BYTES, EW_FREED});
}

static bool access_part(const struct ew_access *part) {
    ew_shadow_access(part);
    return false;
}

void ew_shadow_free(const struct ew_access *access) {
    if (UNLIKELY(access->size >= EW_LARGE_BLOCK)) {
        ew_look_at_touched(access, access_part);
        ew_shadow_freed(access->address, access->size);
        return;
    }
    struct ew_cell *cells = ew_cell_at(access->address & ~3ul);
    size_t count = cells_of(access->address, access->size);
    const struct ew_cell freed = {ew_current & ~EW_BYTES, EW_FREED};
    bool plain = is_all_plain(cells, count);
    if (!plain)
        ew_shadow_access(access);
    if (!plain)
        ew_shadow_freed(access->address, access->size);
    else
        for (size_t i = 0; i < count; i++)
            cells[i] = freed;
}
