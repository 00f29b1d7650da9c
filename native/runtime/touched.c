// SPDX-License-Identifier: Apache-2.0
// What was touched of a large block, of gigabytes perhaps: only there it has a shadow, which the
// kernel tells page by page, also of what is swapped out (proc(5), pagemap).
#include "shadow.h"

#include <fcntl.h>

#define PAGE 4096ul
#define THERE (3ull << 62)
#define ENTRIES 512 // that are read at a time

static bool look_at_page(const struct ew_access *access, uintptr_t page, ew_look *look) {
    uintptr_t start = access->address & ~3ul, end = access->address + access->size;
    long behind = (long)(page - (uintptr_t)ew_cell_at(start)) / 2; // two bytes of shadow for each
    uintptr_t low = start + (uintptr_t)behind, high = low + PAGE / 2;
    struct ew_access part = *access;
    part.address = low > access->address ? low : access->address;
    part.size = (high < end ? high : end) - part.address;
    return look(&part);
}

// How many of the pages the kernel told of; `found` when it is enough.
static size_t look_at_some(const struct ew_access *access, long pagemap, uintptr_t page,
                           size_t count, ew_look *look, bool *found) {
    uint64_t entries[ENTRIES];
    size_t size = (count < ENTRIES ? count : ENTRIES) * sizeof *entries;
    long offset = (long)(page / PAGE * sizeof *entries);
    long bytes = raw6(SYS_pread64, pagemap, (long)entries, (long)size, offset, 0, 0);
    size_t told = bytes > 0 ? (size_t)bytes / sizeof *entries : 0;
    for (size_t i = 0; i < told && !*found; i++)
        if (entries[i] & THERE)
            *found = look_at_page(access, page + i * PAGE, look);
    return told;
}

bool ew_look_at_touched(const struct ew_access *access, ew_look *look) {
    uintptr_t page = (uintptr_t)ew_cell_at(access->address & ~3ul) & ~(PAGE - 1);
    uintptr_t to = (uintptr_t)ew_cell_at((access->address + access->size + 3) & ~3ul);
    size_t left = (to - page + PAGE - 1) / PAGE;
    bool found = false;
    if (access->size < EW_LARGE_BLOCK)
        return look(access);
    long pagemap = raw3(SYS_open, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    while (pagemap >= 0 && left && !found) {
        size_t told = look_at_some(access, pagemap, page, left, look, &found);
        if (!told)
            break;
        left -= told;
        page += told * PAGE;
    }
    raw1(SYS_close, pagemap);
    return found || (left && look(access)); // where it cannot be asked, all of it
}
