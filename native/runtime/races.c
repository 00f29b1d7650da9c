// SPDX-License-Identifier: Apache-2.0
#include "races.h"
#include "bare.h"
#include "family.h"
#include "places.h"

#include <string.h>

// --- places that were told already, in a table that grows

struct key {
    uintptr_t pc;
    uint32_t past_thread;
    uint8_t op, past_wrote, kind, used;
};

// One place may touch several variables, each of which is another race; or a million elements of
// one array, of which the first few will do.
#define OBJECTS 8
// Nor does it matter with which of ten thousand threads it races.
#define PAST_THREADS 64
#define ALL_THREADS UINT32_MAX // in the key of what stands for the place whichever it is
static struct told {
    struct key key;
    uint32_t count; // addresses; whichever thread it is, threads
    uintptr_t addresses[OBJECTS];
} *all_told;
static uint32_t told_count, told_bits;

static struct told *place_of(struct told *table, unsigned bits, const struct key *key) {
    uint64_t word = key->pc ^ ((uint64_t)key->past_thread << 40) ^ ((uint64_t)key->op << 60) ^
                    ((uint64_t)key->past_wrote << 59) ^ ((uint64_t)key->kind << 56);
    uint64_t at = word * 0x9E3779B97F4A7C15u >> (64 - bits);
    while (table[at].key.used && memcmp(&table[at].key, key, sizeof *key) != 0)
        at = (at + 1) & ((1ul << bits) - 1);
    return &table[at];
}

static void grow(void) {
    unsigned bits = told_bits ? told_bits + 1 : 8;
    struct told *table = ew_pages(sizeof *table << bits);
    for (size_t i = 0; told_bits && i < 1ul << told_bits; i++)
        if (all_told[i].key.used)
            *place_of(table, bits, &all_told[i].key) = all_told[i];
    if (all_told)
        raw3(SYS_munmap, (long)all_told, (long)(sizeof *all_told << told_bits), 0);
    all_told = table;
    told_bits = bits;
}

static bool is_among(const struct told *told, uintptr_t address) {
    for (uint32_t i = 0; i < told->count; i++)
        if (told->addresses[i] == address)
            return true;
    return false;
}

static struct told *told_of(const struct key *key) {
    return place_of(all_told, told_bits, key);
}

static void add(const struct key *key) {
    struct told *told = told_of(key);
    told_count += !told->key.used;
    told->key = *key;
}

static bool is_new(struct key key, uintptr_t address) {
    struct key any = key;
    any.past_thread = ALL_THREADS;
    if ((told_count + 2) * 2 > (told_bits ? 1u << told_bits : 0))
        grow();
    struct told *told = told_of(&key);
    if (told->count == OBJECTS || is_among(told, address))
        return false;
    if (!told->count) {
        if (told_of(&any)->count == PAST_THREADS)
            return false;
        add(&key);
        add(&any);
        told_of(&any)->count++;
    }
    told->addresses[told->count++] = address;
    return true;
}

// --- rows

extern char __executable_start[] __attribute__((weak, visibility("hidden")));

// In memory that others see, or only here; NULL: there is no more room.
static struct ew_found_row *fresh_row(void) {
    static struct ew_found_row own;
    own = (struct ew_found_row){0};
    struct ew_found_row *row = ew_bare ? &own : ew_family_row();
    if (row) {
        row->step = ew_step_number();
        row->module = (uintptr_t)__executable_start;
    }
    return row;
}

static void tell(const struct ew_access *access, unsigned kind, uint32_t past_thread,
                 uint32_t past_segment, unsigned past_op) {
    if (!is_new((struct key){access->pc, past_thread, access->op, past_op == EW_OP_STORE,
                             (uint8_t)kind, 1},
                access->address)) {
        ew_family_found_again();
        return;
    }
    struct ew_found_row *row = fresh_row();
    if (!row)
        return;
    row->address = access->address;
    row->pc = access->pc;
    row->size = access->size > UINT32_MAX ? UINT32_MAX : (uint32_t)access->size;
    row->thread = ew_self->id;
    row->past_thread = past_thread;
    row->past_segment = past_segment;
    row->op = access->op;
    row->past_op = (uint8_t)past_op;
    row->kind = (uint8_t)kind; // last: then it is whole
    if (ew_bare)
        ew_bare_tell(row);
}

void ew_race(const struct ew_access *access, uint32_t entry, unsigned past_op) {
    uint32_t segment = ew_segment_of(entry);
    if (!access->atomic) // which is a decision point anyway
        ew_place_add(access->pc);
    tell(access, EW_FOUND_RACE, ew_thread_of_segment(segment), segment, past_op);
}

void ew_used_after_free(const struct ew_access *access) {
    if (!access->atomic)
        ew_place_add(access->pc);
    tell(access, EW_FOUND_USE_AFTER_FREE, 0, 0, EW_OP_FREE);
}

void ew_deadlocked(const struct ew_thread *waiting) {
    struct ew_found_row *row = fresh_row();
    if (!row)
        return;
    row->address = (uintptr_t)waiting->wants.object;
    row->pc = (uintptr_t)waiting->wants.pc;
    row->thread = waiting->id;
    row->op = (uint8_t)waiting->wants.op;
    row->kind = EW_FOUND_DEADLOCK;
    if (ew_bare)
        ew_bare_tell(row);
}

void ew_hung(void) {
    struct ew_found_row *row = fresh_row();
    if (!row)
        return;
    row->thread = ew_self->id;
    row->kind = EW_FOUND_HANG;
}

void ew_stopped(int number) {
    struct ew_found_row *row = fresh_row();
    if (!row)
        return;
    row->thread = ew_self->id;
    row->size = (uint32_t)number;
    row->kind = EW_FOUND_HANG;
}

void ew_gave_up(int status) {
    struct ew_found_row *row = ew_family_row();
    if (!row)
        return;
    row->size = (uint32_t)status;
    row->kind = EW_FOUND_GIVEN_UP;
}

void ew_refused(void) {
    struct ew_found_row *row = ew_family_row();
    if (row)
        row->kind = EW_FOUND_REFUSED;
}

void ew_freed_wrongly(const void *block, const void *pc, unsigned kind) {
    const struct ew_access access = {(uintptr_t)block, 1, (uintptr_t)pc, EW_OP_FREE, false};
    tell(&access, kind, 0, 0, EW_OP_STORE);
}

// What lies in memory that was given back is no lock any more: that is told, as its use.
void ew_misused(unsigned op, const void *lock, const void *pc) {
    if (ew_cell_at((uintptr_t)lock & ~3ul)->read == EW_FREED)
        return;
    const struct ew_access access = {(uintptr_t)lock, 0, (uintptr_t)pc, (uint8_t)op, true};
    tell(&access, EW_FOUND_LOCK_MISUSE, 0, 0, 0);
}
