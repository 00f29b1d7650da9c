// SPDX-License-Identifier: Apache-2.0
#include "sets.h"
#include "runtime.h"

#include <string.h>

#define UNIT 64 // bytes; a set takes as many as it needs
#define UNITS_MAX (1u << 28)
#define HEAD (sizeof(struct ew_set) / sizeof(uint32_t))

static char *units; // reserved; touched as sets come
static uint32_t used = 1;
// As many chains as sets, about: few sets are found in few lines of memory.
#define FEWEST_BITS 9
#define MOST_BITS 24
static uint32_t *chains, chain_bits = FEWEST_BITS, set_count;
static uint32_t spare[32]; // by the logarithm of their size in units; `next` holds the next one

struct ew_set *ew_set_at(uint32_t number) {
    return (struct ew_set *)(units + (size_t)number * UNIT);
}

static unsigned class_of(uint32_t count) {
    uint32_t size = (uint32_t)((HEAD + count) * sizeof(uint32_t) + UNIT - 1) / UNIT;
    return size == 1 ? 0 : 32 - (unsigned)__builtin_clz(size - 1);
}

static uint32_t create(uint32_t count) {
    unsigned class = class_of(count);
    uint32_t number = spare[class];
    if (number) {
        spare[class] = ew_set_at(number)->next;
        return number;
    }
    if (used + (1u << class) > UNITS_MAX)
        ew_cannot("the program's memory is shared in too many different ways");
    number = used;
    used += 1u << class;
    return number;
}

static void destroy(uint32_t number) {
    struct ew_set *set = ew_set_at(number);
    unsigned class = class_of(set->count);
    set->next = spare[class];
    spare[class] = number;
}

static uint32_t hash_of(const uint32_t *entries, uint32_t count) {
    uint32_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ entries[i]) * 0x9E3779B1u + (hash >> 15);
    return hash;
}

static uint32_t *chain_of(uint32_t hash) {
    return &chains[hash >> (32 - chain_bits)];
}

static void lengthen(void) {
    uint32_t *old = chains, old_bits = chain_bits;
    chain_bits += 2;
    chains = ew_pages(sizeof *chains << chain_bits);
    for (uint32_t i = 0; i < 1u << old_bits; i++)
        for (uint32_t number = old[i], next; number; number = next) {
            struct ew_set *set = ew_set_at(number);
            uint32_t *chain = chain_of(set->hash);
            next = set->next;
            set->next = *chain;
            *chain = number;
        }
    raw3(SYS_munmap, (long)old, (long)(sizeof *old << old_bits), 0);
}

uint32_t ew_set_of(const uint32_t *entries, uint32_t count) {
    uint32_t hash = hash_of(entries, count), *chain = chain_of(hash);
    for (uint32_t number = *chain; number; number = ew_set_at(number)->next) {
        struct ew_set *set = ew_set_at(number);
        if (set->hash == hash && set->count == count &&
            memcmp(set->entries, entries, count * sizeof *entries) == 0) {
            set->uses++;
            return number;
        }
    }
    if (++set_count > 1u << chain_bits && chain_bits + 2 <= MOST_BITS) {
        lengthen();
        chain = chain_of(hash);
    }
    uint32_t number = create(count);
    struct ew_set *set = ew_set_at(number);
    *set = (struct ew_set){.uses = 1, .next = *chain, .hash = hash, .count = count};
    memcpy(set->entries, entries, count * sizeof *entries);
    return *chain = number;
}

void ew_set_drop(uint32_t number) {
    struct ew_set *set = ew_set_at(number);
    if (--set->uses)
        return;
    uint32_t *at = chain_of(set->hash);
    while (*at != number)
        at = &ew_set_at(*at)->next;
    *at = set->next;
    set_count--;
    destroy(number);
}

void ew_sets_start(void) {
    units = ew_pages((size_t)UNITS_MAX * UNIT);
    chains = ew_pages(sizeof *chains << chain_bits);
}

void ew_sets_forget(void) {
    used = 1;
    set_count = 0;
    memset(chains, 0, sizeof *chains << chain_bits);
    memset(spare, 0, sizeof spare);
}
