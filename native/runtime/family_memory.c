// SPDX-License-Identifier: Apache-2.0
// Maps and finds its way in the memory of a run.
#include "family_memory.h"
#include "guide.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

// Where nothing else of a program ever is, so that what a run maps for itself lies where it lies in
// any other, recorded or not.
#define PLACE (0x10000000000ul + EW_GUIDE_ROOM)

struct ew_family ew_noted = {.place = PLACE};
struct ew_family ew_given = {.place = PLACE + (1ul << 36)};

static struct ew_slot own_slot; // of a process that is in no family
struct ew_slot *ew_own = &own_slot;

// --- texts

char *ew_write_number(char *at, const char *name, uint64_t value) {
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    at = stpcpy(at, name);
    while (count)
        *at++ = digits[--count];
    *at = 0;
    return at;
}

const char *ew_family_path(char *into, int descriptor) {
    ew_write_number(ew_write_number(into, "/proc/", (uint64_t)raw1(SYS_getpid, 0)), "/fd/",
                    (uint64_t)descriptor);
    return into;
}

// --- the memory

static void *map(int descriptor, uintptr_t place, uint64_t size, uint64_t offset, bool writable) {
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    int flags = (writable ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE | MAP_FIXED;
    long address =
        raw6(SYS_mmap, (long)place, (long)size, protection, flags, descriptor, (long)offset);
    if (address != (long)place)
        ew_cannot("the memory of the run cannot be mapped");
    raw3(SYS_madvise, address, (long)size, MADV_DONTDUMP);
    return (void *)address;
}

static uint64_t pages(uint64_t size) {
    return (size + 4095) & ~4095ul;
}

static uint64_t slots_size(const struct ew_family_head *head) {
    return pages(sizeof *head + head->room * sizeof(struct ew_slot));
}

static uint64_t rows_size(const struct ew_family_head *head) {
    return pages(head->found_room * sizeof(struct ew_found_row));
}

void ew_memory_map_slots(struct ew_family *family, int descriptor, bool writable) {
    struct ew_family_head head;
    if (raw6(SYS_pread64, descriptor, (long)&head, sizeof head, 0, 0, 0) != sizeof head)
        ew_cannot("the memory of the run is not there");
    family->head =
        map(descriptor, family->place, slots_size(&head) + rows_size(&head), 0, writable);
    family->slots = (struct ew_slot *)(family->head + 1);
}

void ew_memory_map_area(struct ew_family *family, int descriptor, uint32_t number, bool writable) {
    const struct ew_family_head *head = family->head;
    uint64_t size = head->switches * sizeof(struct ew_schedule_switch) + head->inputs;
    uint64_t offset = slots_size(head) + rows_size(head) + number * size;
    // Behind the slots, as in the file: one mapping, for the first process of a run.
    uintptr_t place = family->place + slots_size(head) + rows_size(head);
    family->area = map(descriptor, place, size, offset, writable);
}

int ew_memory_open(const struct ew_family *family, bool writable) {
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    long descriptor = raw3(SYS_open, (long)family->path, flags, 0);
    if (descriptor < 0)
        ew_cannot("the memory of the run cannot be reached: is /proc there?");
    return (int)descriptor;
}

struct ew_schedule_switch *ew_memory_switches(const struct ew_family *family) {
    return (struct ew_schedule_switch *)family->area;
}

char *ew_memory_items(const struct ew_family *family) {
    return family->area + family->head->switches * sizeof(struct ew_schedule_switch);
}

struct ew_found_row *ew_memory_rows(const struct ew_family *family) {
    return (struct ew_found_row *)((char *)family->head + slots_size(family->head));
}

void ew_family_hold(int descriptor) {
    ew_memory_map_slots(&ew_noted, descriptor, true);
    ew_memory_map_area(&ew_noted, descriptor, 0, true);
}

const struct ew_schedule_head *ew_family_first(void) {
    return &ew_noted.slots[0].schedule;
}

void ew_family_rewind(void) {
    uint64_t used =
        ew_noted.head->used < ew_noted.head->room ? ew_noted.head->used : ew_noted.head->room;
    ew_noted.head->used = ew_noted.head->turns = ew_noted.head->turning = 0;
    memset(ew_noted.slots, 0, used * sizeof *ew_noted.slots);
}

uint32_t ew_memory_used(const struct ew_family *family) {
    uint64_t count = family->head ? __atomic_load_n(&family->head->used, __ATOMIC_ACQUIRE) : 0;
    return (uint32_t)(family->head && count > family->head->room ? family->head->room : count);
}

uint32_t ew_memory_number_of(const struct ew_slot *slot) {
    return ew_noted.head ? (uint32_t)(slot - ew_noted.slots) : EW_NO_SLOT;
}
