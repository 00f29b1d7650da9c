// SPDX-License-Identifier: Apache-2.0
#include "places.h"
#include "guide.h"
#include "hashes.h"

#include <link.h>
#include <string.h>

uint64_t ew_places_bits[64];
bool ew_places_any, ew_places_filtered;

// What was found in this run, beside those that are given.
#define OWN_MAX 4096
EW_LARGE static uint64_t own[OWN_MAX];
static uint32_t own_count;

// --- from an address to its place

struct sought {
    uintptr_t pc, offset;
    uint64_t file; // hash of its name
};

static uint64_t hash_of(const char *text) {
    return ew_hash_bytes(EW_HASH_OF_NOTHING, text, strlen(text));
}

// Without the directory: that is other where the program is built or installed elsewhere. The
// program's own name is empty in this list.
static const char *name_in(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int look_into(struct dl_phdr_info *info, size_t size, void *argument) {
    struct sought *sought = argument;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t offset = sought->pc - info->dlpi_addr;
        if (part->p_type != PT_LOAD || offset - part->p_vaddr >= part->p_memsz)
            continue;
        sought->offset = offset;
        sought->file = hash_of(name_in(info->dlpi_name));
        return 1;
    }
    return 0;
}

// Code in no file is known by its address, which repeats as far as addresses do.
static uint64_t place_of(uintptr_t pc) {
    struct sought sought = {.pc = pc, .offset = pc};
    dl_iterate_phdr(look_into, &sought);
    return (ew_splitmix(sought.file + ew_splitmix(sought.offset)) & EW_PLACE_HASH) |
           (sought.offset & 4095);
}

// --- the set

static bool is_among(const uint64_t *places, uint32_t count, uint64_t place) {
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == place)
            return true;
    return false;
}

// What was asked before, by address: the address shifted by one, and the answer.
#define ANSWERS_BITS 10
EW_LARGE static uint64_t answers[1 << ANSWERS_BITS];

static uint64_t *answer_for(uintptr_t pc) {
    return &answers[pc * 0x9E3779B97F4A7C15u >> (64 - ANSWERS_BITS)];
}

bool ew_place_look_up(uintptr_t pc) {
    uint64_t *answer = answer_for(pc);
    if (*answer >> 1 != pc) {
        uint32_t count;
        const uint64_t *given = ew_guide_places(&count);
        uint64_t place = place_of(pc);
        *answer = pc << 1 | (is_among(given, count, place) || is_among(own, own_count, place));
    }
    return *answer & 1;
}

// --- how often it was decided there

#define TIRED 2000
EW_LARGE static uint16_t decisions[4096];

bool ew_place_is_tired(uintptr_t pc) {
    return decisions[pc & 4095] >= TIRED;
}

bool ew_place_decides(uintptr_t pc) {
    if (ew_place_is_tired(pc))
        return false;
    if (++decisions[pc & 4095] == TIRED) {
        if (!ew_places_filtered)
            ew_places_bits[(pc >> 6) & 63] &= ~(1ul << (pc & 63));
        ew_guide_tired();
    }
    return true;
}

void ew_places_filter(void) {
    ew_places_filtered = true;
    memset(ew_places_bits, 0xFF, sizeof ew_places_bits);
}

static void set_bit(uint64_t place) {
    ew_places_any = true;
    if (!ew_place_is_tired(place))
        ew_places_bits[(place >> 6) & 63] |= 1ul << (place & 63);
}

void ew_place_add(uintptr_t pc) {
    if (ew_place_look_up(pc) || own_count == OWN_MAX) // by its bit alone a tired one would be new
        return;
    uint64_t place = place_of(pc);
    own[own_count++] = place;
    *answer_for(pc) = pc << 1 | 1;
    set_bit(place);
    ew_guide_found(place);
}

void ew_places_begin(void) {
    uint32_t count;
    const uint64_t *given = ew_guide_places(&count);
    for (uint32_t i = 0; i < count; i++)
        set_bit(given[i]);
}
