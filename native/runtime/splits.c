// SPDX-License-Identifier: Apache-2.0
#include "splits.h"
#include "passing.h"

#include <sys/mman.h>

struct ew_narrow *ew_narrows; // reserved; touched as cells are split
struct ew_wide *ew_wides;

// Of those that were given back, the first word holds the next.
struct pool {
    uint32_t used, spare;
};
static struct pool narrow = {1, 0}, wide = {1, 0};

// Their pages are asked for many at a time: each by itself costs more than to fill it. Kernels
// before 5.14 do not know of it, and give them one by one.
#define MANY 2048
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define ASK_FOR(first) raw3(SYS_madvise, (long)(first), MANY * sizeof *(first), MADV_POPULATE_WRITE)

// Whether its pages are to be asked for.
static bool take_fresh(struct pool *pool, uint32_t *number) {
    if (pool->used == EW_SPLITS_MAX)
        ew_cannot("the program's memory is shared in too many different ways");
    *number = pool->used++;
    return *number % MANY == 0;
}

static uint32_t create_narrow(void) {
    uint32_t number = narrow.spare;
    if (number) {
        narrow.spare = ew_narrows[number].reads[0];
        __builtin_prefetch(&ew_narrows[narrow.spare], 1);
    } else if (take_fresh(&narrow, &number)) {
        ASK_FOR(&ew_narrows[number]);
    }
    return number;
}

static uint32_t create_wide(void) {
    uint32_t number = wide.spare;
    if (number)
        wide.spare = ew_wides[number].bytes[0].write;
    else if (take_fresh(&wide, &number))
        ASK_FOR(&ew_wides[number]);
    return number;
}

void ew_split_give_back(const struct ew_cell *cell) {
    bool is_wide = ew_split_is_wide(cell);
    struct pool *pool = is_wide ? &wide : &narrow;
    uint32_t number = ew_split_number(cell);
    *(is_wide ? &ew_wides[number].bytes[0].write : ew_narrows[number].reads) = pool->spare;
    pool->spare = number;
}

static uint32_t part_of(uint32_t entry, uint32_t byte) {
    return entry & byte ? (entry & ~EW_BYTES) | byte : 0;
}

static void know_nothing(struct ew_cell *cell) {
    cell->read = cell->write;
}

// --- what all of its bytes say

static bool is_narrow_known(const struct ew_cell *cell) {
    const struct ew_narrow *of = ew_split_narrow(cell);
    for (uint32_t i = 0; i < 4; i++)
        if (!ew_entry_is_known(of->reads[i]))
            return false;
    return (!(of->writes[0] & EW_BYTES) || ew_entry_is_known(of->writes[0])) &&
           (!(of->writes[1] & EW_BYTES) || ew_entry_is_known(of->writes[1]));
}

static bool is_wide_known(const struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_wide(cell);
    for (uint32_t i = 0; i < 4; i++)
        if (!ew_past_is_plain(&bytes[i]))
            return false;
    return true;
}

// After a look at some of the bytes, of which the others may not be known.
static void sum_up(struct ew_cell *cell) {
    if ((ew_split_is_wide(cell) ? is_wide_known : is_narrow_known)(cell))
        ew_split_know(cell);
    else
        know_nothing(cell);
}

// One entry says what both say, if it can.
static bool joins(uint32_t *one, uint32_t entry) {
    if (entry & (EW_SET | EW_ATOMIC))
        return false;
    if (!(entry & EW_BYTES))
        return true;
    if (*one && (entry ^ *one) > EW_BYTES)
        return false;
    *one |= entry;
    return true;
}

static bool join_writes(const struct ew_cell *cell, uint32_t *one) {
    const uint32_t *writes = ew_split_narrow(cell)->writes;
    if (!ew_split_is_wide(cell))
        return joins(one, writes[0]) && joins(one, writes[1]);
    for (uint32_t i = 0; i < 4; i++)
        if (!joins(one, ew_split_wide(cell)[i].write))
            return false;
    return true;
}

static bool join_reads(const struct ew_cell *cell, uint32_t *one) {
    for (uint32_t i = 0; i < 4; i++)
        if (!joins(one, *ew_split_read_of(cell, i)))
            return false;
    return true;
}

static void drop_reads(const struct ew_cell *cell) {
    for (uint32_t i = 0; ew_split_is_wide(cell) && i < 4; i++)
        ew_past_drop(ew_split_wide(cell)[i].read);
}

// When the running thread has written all of it in this segment, no earlier read matters: it knew
// of those, or they have been told.
static bool becomes_one(struct ew_cell *cell) {
    struct ew_cell one = {0};
    if (!join_writes(cell, &one.write))
        return false;
    if (one.write == ew_current)
        drop_reads(cell);
    else if (!join_reads(cell, &one.read))
        return false;
    ew_split_give_back(cell);
    *cell = one;
    return true;
}

// --- narrow ones

typedef uint32_t four __attribute__((vector_size(16), aligned(8), may_alias));

// Of an entry that is no set.
static four parts_of_entry(uint32_t entry) {
    const four bytes = {1, 2, 4, 8}, every = {entry, entry, entry, entry};
    return ((every & ~EW_BYTES) | bytes) & (four)((every & bytes) == bytes);
}

static void split(struct ew_cell *cell) {
    uint32_t number = create_narrow();
    *(four *)ew_narrows[number].reads = parts_of_entry(cell->read);
    ew_narrows[number].writes[0] = cell->write;
    ew_narrows[number].writes[1] = 0;
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

// --- wide ones

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
    uint32_t number = create_wide();
    struct ew_cell *bytes = ew_wides[number].bytes;
    for (uint32_t i = 0; i < 4; i++)
        bytes[i] = (struct ew_cell){parts_of(cell->write, 1u << i), parts_of(cell->read, 1u << i)};
    ew_past_drop(cell->write);
    ew_past_drop(cell->read);
    cell->write = EW_SET | EW_SPLIT | EW_WIDE | number;
    know_nothing(cell);
    ew_past_mark(cell);
}

void ew_split_widen(struct ew_cell *cell) {
    if (ew_split_is_wide(cell))
        return;
    const struct ew_narrow *of = ew_split_narrow(cell);
    uint32_t number = create_wide();
    for (uint32_t i = 0; i < 4; i++)
        ew_wides[number].bytes[i] = (struct ew_cell){
            part_of(of->writes[0], 1u << i) | part_of(of->writes[1], 1u << i), of->reads[i]};
    ew_split_give_back(cell);
    cell->write = EW_SET | EW_SPLIT | EW_WIDE | number;
}

// Where nothing is in it that needs a cell for each byte.
static void make_narrow(struct ew_cell *cell) {
    const struct ew_cell *bytes = ew_split_wide(cell);
    uint32_t writes[2] = {0, 0};
    for (uint32_t i = 0; i < 4; i++)
        if (bytes[i].read & (EW_SET | EW_ATOMIC) ||
            (!joins(&writes[0], bytes[i].write) && !joins(&writes[1], bytes[i].write)))
            return;
    uint32_t number = create_narrow();
    for (uint32_t i = 0; i < 4; i++)
        ew_narrows[number].reads[i] = bytes[i].read;
    ew_narrows[number].writes[0] = writes[0];
    ew_narrows[number].writes[1] = writes[1];
    ew_split_give_back(cell);
    cell->write = EW_SET | EW_SPLIT | number;
}

void ew_split_settle(struct ew_cell *cell) {
    if (becomes_one(cell))
        return;
    make_narrow(cell);
    sum_up(cell);
}

// --- known bytes

// One cell may do again when all of it has been touched, of which the last byte mostly is the last.
#define LAST 3
static bool may_become_one(uint32_t bytes, bool writes) {
    return bytes == EW_BYTES || (writes && bytes >> LAST);
}

static bool each_wide_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    struct ew_cell *of_bytes = ew_split_wide(cell);
    for (uint32_t rest = bytes; rest; rest &= rest - 1) {
        uint32_t byte = (uint32_t)__builtin_ctz(rest);
        if (!ew_byte_passes(&of_bytes[byte], ew_byte(byte), writes))
            return false;
    }
    return true;
}

static bool is_narrow_byte_known(const struct ew_narrow *of, uint32_t byte) {
    return ew_entry_is_known(of->reads[byte]) &&
           (!(of->writes[0] >> byte & 1) || ew_entry_is_known(of->writes[0])) &&
           (!(of->writes[1] >> byte & 1) || ew_entry_is_known(of->writes[1]));
}

static bool each_narrow_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    struct ew_narrow *of = ew_split_narrow(cell);
    uint32_t fresh = 0;
    for (uint32_t rest = bytes; rest; rest &= rest - 1) {
        uint32_t byte = (uint32_t)__builtin_ctz(rest);
        if (ew_split_is_done(cell, byte, writes))
            continue;
        if (!is_narrow_byte_known(of, byte))
            return false;
        fresh |= 1u << byte;
        if (!writes)
            of->reads[byte] = ew_byte(byte);
    }
    if (writes && fresh && !ew_narrow_write(of->writes, fresh)) {
        ew_split_widen(cell);
        return each_wide_passes(cell, fresh, true);
    }
    return true;
}

bool ew_split_each_passes(struct ew_cell *cell, uint32_t bytes, bool writes) {
    bool known = ew_split_is_known(cell);
    if (!(ew_split_is_wide(cell) ? each_wide_passes : each_narrow_passes)(cell, bytes, writes))
        return false;
    if (may_become_one(bytes, writes) && becomes_one(cell))
        return true;
    if (known)
        ew_split_know(cell);
    else
        sum_up(cell);
    return true;
}

// --- one cell again

static void keep_with_others(uint32_t entry) {
    for (uint32_t i = 0; i < ew_past_count; i++)
        if ((ew_past_kept[i] ^ entry) <= EW_BYTES) {
            ew_past_kept[i] |= entry;
            return;
        }
    ew_past_keep(entry);
}

static uint32_t side_of(const struct ew_cell *cell, bool reads) {
    return reads ? cell->read : cell->write;
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
    ew_split_widen(cell);
    const struct ew_cell *bytes = ew_split_wide(cell);
    struct ew_cell whole = {united(bytes, false), united(bytes, true)};
    ew_split_drop(cell);
    *cell = whole;
}

void ew_split_drop(struct ew_cell *cell) {
    drop_reads(cell);
    for (uint32_t i = 0; ew_split_is_wide(cell) && i < 4; i++)
        ew_past_drop(ew_split_wide(cell)[i].write);
    ew_split_give_back(cell);
    *cell = (struct ew_cell){0};
}

#define ROOM(of) (EW_SPLITS_MAX * sizeof *(of))

void ew_splits_start(void) {
    ew_narrows = ew_pages(ROOM(ew_narrows));
    ew_wides = ew_pages(ROOM(ew_wides));
}

void ew_splits_forget(void) {
    raw3(SYS_madvise, (long)ew_narrows, ROOM(ew_narrows), MADV_DONTNEED);
    raw3(SYS_madvise, (long)ew_wides, ROOM(ew_wides), MADV_DONTNEED);
    narrow = wide = (struct pool){1, 0};
}
