// SPDX-License-Identifier: Apache-2.0
// Places for thread control blocks that a selector leads to.
//
// wrfsbase waits for all that the processor has under way; to load a selector of the process's own
// descriptor table does not, and sets the thread pointer as well. A descriptor holds 32 bits of an
// address, so control blocks lie below 4 GiB, each in a place with a descriptor of its own. Where
// somebody else has a place, or the kernel gives no such table, threads do without.
#include "threads.h"

#include <asm/ldt.h>
#include <sys/mman.h>

#define LOWEST 0xe0000000ul // above what MAP_32BIT gives, and where heaps of old programs grow to
#define END 0xffff0000ul
#define PLACES 8192 // descriptors of a table
#define A_PAGE 4096ul
#define NOBODYS UINT32_MAX

static size_t place_size;          // the same for all
static uint32_t next;              // the first that was not given out
static uint32_t kept = NOBODYS;    // behind a fork: the running thread's
static uint64_t ours[PLACES / 64]; // mapped

static bool have(uint32_t place, uintptr_t at) {
    uint64_t bit = 1ul << place % 64;
    if (!(ours[place / 64] & bit) &&
        raw6(SYS_mmap, (long)at, (long)place_size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == (long)at)
        ours[place / 64] |= bit;
    return ours[place / 64] & bit;
}

void *ew_place_take(size_t size) {
    place_size = (size + A_PAGE - 1) & -A_PAGE;
    for (; next < PLACES; next++) {
        uintptr_t at = LOWEST + next * place_size;
        if (at + place_size > END)
            break;
        if (next != kept && have(next, at)) {
            next++;
            return (void *)at;
        }
    }
    return NULL;
}

static uint32_t place_of(uint64_t fs) {
    return fs < LOWEST || fs >= END ? NOBODYS : (uint32_t)((fs - LOWEST) / place_size);
}

uint32_t ew_selector_of(uint64_t fs) {
    uint32_t place = place_of(fs);
    struct user_desc descriptor = {.entry_number = place,
                                   .base_addr = (uint32_t)fs,
                                   .limit = 0xfffff,
                                   .seg_32bit = 1,
                                   .limit_in_pages = 1,
                                   .useable = 1};
    bool done =
        place != NOBODYS && raw3(SYS_modify_ldt, 0x11, (long)&descriptor, sizeof descriptor) == 0;
    return done ? place << 3 | 7 : 0; // of the local table, for user code
}

void ew_places_forked(void) {
    kept = place_of(ew_self->fs);
    next = 0;
}
