// SPDX-License-Identifier: Apache-2.0
#include "splits.h"
#include "passing.h"

#include <sys/mman.h>

#define BYTES (EW_SPLITS_MAX * sizeof *ew_splits)

struct ew_split *ew_splits;      // reserved; touched as cells are split
static uint32_t used = 1, spare; // of those given back, the first write holds the next

// Their pages are asked for many at a time: each by itself costs more than to fill it. Kernels
// before 5.14 do not know of it, and give them one by one.
#define MANY 2048
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static uint32_t create_fresh(void) {
    if (used == EW_SPLITS_MAX)
        ew_cannot("the program's memory is shared in too many different ways");
    if (used % MANY == 0)
        raw3(SYS_madvise, (long)&ew_splits[used], MANY * sizeof *ew_splits, MADV_POPULATE_WRITE);
    return used++;
}

static uint32_t create(void) {
    uint32_t number = spare;
    if (!number)
        return create_fresh();
    spare = ew_splits[number].bytes[0].write;
    __builtin_prefetch(&ew_splits[spare], 1);
    return number;
}

void ew_split_give_back(const struct ew_cell *cell) {
    ew_split_of(cell)->write = spare;
    spare = cell->write & (EW_SPLITS_MAX - 1);
}

static uint32_t part_of(uint32_t entry, uint32_t byte) {
    return entry & byte ? (entry & ~EW_BYTES) | byte : 0;
}

static void know_nothing(struct ew_cell *cell) {
    cell->read = cell->write;
}

// After a look at some of the bytes, of which the others may not be known.
static void sum_up(struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_of(cell);
    for (uint32_t i = 0; i < 4; i++)
        if (!ew_past_is_plain(&bytes[i])) {
            know_nothing(cell);
            return;
        }
    ew_split_know(cell);
}

typedef uint32_t four __attribute__((vector_size(16), may_alias));

// Of an entry that is no set.
static four parts_of_entry(uint32_t entry) {
    const four bytes = {1, 2, 4, 8}, every = {entry, entry, entry, entry};
    return ((every & ~EW_BYTES) | bytes) & (four)((every & bytes) == bytes);
}

static void split(struct ew_cell *cell) {
    uint32_t number = create();
    four writes = parts_of_entry(cell->write), reads = parts_of_entry(cell->read);
    four *bytes = (four *)ew_splits[number].bytes;
    bytes[0] = __builtin_shuffle(writes, reads, (four){0, 4, 1, 5});
    bytes[1] = __builtin_shuffle(writes, reads, (four){2, 6, 3, 7});
    cell->write = EW_SET | EW_SPLIT | number;
    ew_past_mark(cell);
}

void ew_split(struct ew_cell *cell) {
    bool known = ew_past_is_plain(cell);
    split(cell);
    (known ? ew_split_know : know_nothing)(cell);
}

void ew_split_for(struct ew_cell *cell, uint32_t bytes, bool writes) {
    split(cell);
    ew_split_put(cell, bytes, writes);
}

static uint32_t parts_of(uint32_t value, uint32_t byte) {
    struct ew_past past;
    uint32_t parts = 0;
    ew_past_look(value, &past);
    ew_past_count = 0;
    for (uint32_t i = 0; i < past.count; i++)
        if (past.entries[i] & byte)
            ew_past_keep(part_of(past.entries[i], byte));
    ew_past_settle(&parts);
    return parts;
}

void ew_split_sets(struct ew_cell *cell) {
    uint32_t number = create();
    struct ew_cell *bytes = ew_splits[number].bytes;
    for (uint32_t i = 0; i < 4; i++)
        bytes[i] = (struct ew_cell){parts_of(cell->write, 1u << i), parts_of(cell->read, 1u << i)};
    ew_past_drop(cell->write);
    ew_past_drop(cell->read);
    cell->write = EW_SET | EW_SPLIT | number;
    know_nothing(cell);
    ew_past_mark(cell);
}

static uint32_t side_of(const struct ew_cell *cell, bool reads) {
    return reads ? cell->read : cell->write;
}

// The one entry that says what all four say, if there is one.
static bool is_one(const struct ew_cell *bytes, bool reads, uint32_t *one) {
    *one = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t entry = side_of(&bytes[i], reads);
        if (entry & (EW_SET | EW_ATOMIC) || (*one && entry && (entry ^ *one) > EW_BYTES))
            return false;
        *one |= entry;
    }
    return true;
}

static void drop_reads(const struct ew_cell *bytes) {
    for (uint32_t i = 0; i < 4; i++)
        ew_past_drop(bytes[i].read);
}

// When the running thread has written all of it in this segment, no earlier read matters: it knew
// of those, or they have been told.
static bool becomes_one(struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_of(cell);
    struct ew_cell one = {0};
    if (!is_one(bytes, false, &one.write))
        return false;
    if (one.write == ew_current)
        drop_reads(bytes);
    else if (!is_one(bytes, true, &one.read))
        return false;
    ew_split_give_back(cell);
    *cell = one;
    return true;
}

void ew_split_settle(struct ew_cell *cell) {
    if (!becomes_one(cell))
        sum_up(cell);
}

// One cell may do again when all of it has been touched, of which the last byte mostly is the last.
#define LAST 3
static bool may_become_one(uint32_t bytes, bool writes) {
    return bytes == EW_BYTES || (writes && bytes >> LAST);
}

static bool each_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    struct ew_cell *of_bytes = ew_split_of(cell);
    for (uint32_t rest = bytes; rest; rest &= rest - 1) {
        uint32_t byte = (uint32_t)__builtin_ctz(rest);
        if (!ew_byte_passes(&of_bytes[byte], ew_byte(byte), writes))
            return false;
    }
    return true;
}

bool ew_split_each_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    bool known = ew_split_is_known(cell);
    if (!each_passes(cell, bytes, writes))
        return false;
    if (may_become_one(bytes, writes) && becomes_one(cell))
        return true;
    if (known)
        ew_split_know(cell);
    else
        sum_up(cell);
    return true;
}

static void keep_with_others(uint32_t entry) {
    for (uint32_t i = 0; i < ew_past_count; i++)
        if ((ew_past_kept[i] ^ entry) <= EW_BYTES) {
            ew_past_kept[i] |= entry;
            return;
        }
    ew_past_keep(entry);
}

static uint32_t united(const struct ew_cell *bytes, bool reads) {
    uint32_t value = 0;
    ew_past_count = 0;
    for (uint32_t i = 0; i < 4; i++) {
        struct ew_past past;
        ew_past_look(side_of(&bytes[i], reads), &past);
        for (uint32_t k = 0; k < past.count; k++)
            if (past.entries[k])
                keep_with_others(past.entries[k]);
    }
    ew_past_settle(&value);
    return value;
}

void ew_split_unite(struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_of(cell);
    struct ew_cell whole = {united(bytes, false), united(bytes, true)};
    ew_split_drop(cell);
    *cell = whole;
}

void ew_split_drop(struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_of(cell);
    drop_reads(bytes);
    for (uint32_t i = 0; i < 4; i++)
        ew_past_drop(bytes[i].write);
    ew_split_give_back(cell);
    *cell = (struct ew_cell){0};
}

void ew_splits_start(void) {
    ew_splits = ew_pages(BYTES);
}

void ew_splits_forget(void) {
    raw3(SYS_madvise, (long)ew_splits, BYTES, MADV_DONTNEED);
    used = 1;
    spare = 0;
}
