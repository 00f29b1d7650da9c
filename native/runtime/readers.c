// SPDX-License-Identifier: Apache-2.0
#include "readers.h"

#include <sys/mman.h>

// One more, which stays empty: see ew_reader_mine.
#define ENTRIES_BYTES                                                                              \
    ((size_t)(EW_READERS_SLOTS + 1) * EW_READERS_STRIDE * sizeof *ew_readers_entries)
#define SLOTS_BYTES (EW_READERS_MAX * sizeof *ew_readers_slots)

uint32_t *ew_readers_entries;
uint32_t *ew_readers_mine;
uint64_t *ew_readers_slots;
static uint32_t used = 1, spare; // of those given back, `ew_readers_slots` holds the next

uint32_t ew_readers_create(void) {
    uint32_t number = spare;
    if (!number && used == EW_READERS_MAX)
        ew_cannot("the program's memory is shared in too many different ways");
    if (!number)
        return used++;
    spare = (uint32_t)ew_readers_slots[number];
    ew_readers_slots[number] = 0;
    return number;
}

void ew_readers_drop(uint32_t number) {
    number &= EW_READERS_MAX - 1;
    for (uint64_t slots = ew_readers_slots[number]; slots; slots &= slots - 1)
        *ew_reader(number, (uint32_t)__builtin_ctzl(slots)) = 0;
    ew_readers_slots[number] = spare;
    spare = number;
}

uint32_t ew_readers_list(uint32_t number, const uint32_t **entries) {
    static uint32_t list[EW_READERS_SLOTS];
    uint32_t count = 0;
    number &= EW_READERS_MAX - 1;
    for (uint64_t slots = ew_readers_slots[number]; slots; slots &= slots - 1)
        list[count++] = *ew_reader(number, (uint32_t)__builtin_ctzl(slots)) & ~EW_UNAWARE;
    *entries = list;
    return count;
}

void ew_readers_start(void) {
    ew_readers_entries = ew_pages(ENTRIES_BYTES);
    ew_readers_slots = ew_pages(SLOTS_BYTES);
}

void ew_readers_forget(void) {
    raw3(SYS_madvise, (long)ew_readers_entries, ENTRIES_BYTES, MADV_DONTNEED);
    raw3(SYS_madvise, (long)ew_readers_slots, SLOTS_BYTES, MADV_DONTNEED);
    used = 1;
    spare = 0;
}
