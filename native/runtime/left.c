// SPDX-License-Identifier: Apache-2.0
// At the cut the process is forked. The copy never runs: it is what memory was. At the end, pages
// that both still share are as they were; the others are compared word by word.
//
// Code without hooks is seen so: libraries that somebody else built, assembly, libc itself. Where
// there is no copy (too large, or refused), or the kernel does not let us read it or say which
// pages are shared, nothing is told, and who reads the trace knows it.
#include "left.h"
#include "family_memory.h"
#include "hashes.h"
#include "maps.h"
#include "own_memory.h"
#include "trace.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#define PAGE 4096ul
#define WORDS (PAGE / sizeof(uint64_t))
#define CHANGES_MAX (1u << 20)
// The memory of all processes of a run is limited to half of the machine's: course.py. A copy
// counts there as much as what it is a copy of.
#define SHARE 8
#define DESCRIPTORS_MAX 65536

static bool asked, incomplete;
static long copy; // its process
static uint32_t changes;

void ew_left_ask(void) {
    asked = true;
}

// --- the copy

// Nobody sees it: it holds no end of a pipe, gets no signal, and is no child that is waited for.
static _Noreturn void stand_still(void) {
    uint64_t all = UINT64_MAX;
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all, 0, 0);
    raw6(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
    if (raw3(SYS_close_range, 0, UINT32_MAX, 0) < 0) // Linux 5.9
        for (int i = 0; i < DESCRIPTORS_MAX; i++)
            raw1(SYS_close, i);
    for (;;)
        raw3(SYS_poll, 0, 0, -1);
}

static bool is_small(void) {
    struct sysinfo machine;
    char text[128] = "";
    long descriptor = raw3(SYS_open, (long)"/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
    long got = raw3(SYS_read, descriptor, (long)text, sizeof text - 1);
    raw1(SYS_close, descriptor);
    const char *at = got > 0 ? strchr(text, ' ') : NULL; // SIZE RESIDENT ...
    if (!at || raw1(SYS_sysinfo, (long)&machine))
        return false;
    uint64_t pages = 0;
    while (*++at >= '0' && *at <= '9')
        pages = pages * 10 + (uint64_t)(*at - '0');
    return pages * PAGE < machine.totalram / SHARE * machine.mem_unit;
}

void ew_left_begin(void) {
    if (!asked || !ew_tracing || copy || !is_small())
        return;
    copy = raw6(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (copy == 0)
        stand_still();
    if (copy < 0)
        copy = 0;
}

static void end_copy(void) {
    raw3(SYS_kill, copy, SIGKILL, 0);
    raw6(SYS_wait4, copy, 0, __WALL, 0, 0, 0);
    copy = 0;
}

static int open_memory(void) {
    char path[64];
    stpcpy(ew_write_number(path, "/proc/", (uint64_t)copy), "/mem");
    return (int)raw3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

// --- what is not as it was

static int memory, pagemap;

static bool is_own(uintptr_t word) {
    return (word >= (uintptr_t)ew_own_data && word < (uintptr_t)ew_own_data_end) ||
           (word >= (uintptr_t)ew_own_bss && word < (uintptr_t)ew_own_bss_end);
}

static void tell_word(uintptr_t address, uint64_t before, uint64_t after) {
    struct ew_thread_change row = {.address = address, .before = before, .after = after};
    if (is_own(address))
        return;
    if (++changes > CHANGES_MAX)
        incomplete = true;
    else
        ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_CHANGES, &row);
}

// Pages with blocks that came behind the cut: of those every word is told, as what they were at the
// cut says nothing of what they were when the block was allocated.
#define FRESH_MAX (1u << 16)
EW_LARGE static uintptr_t fresh[FRESH_MAX];
static uint32_t fresh_count;

static uintptr_t *fresh_at(uintptr_t page) {
    uint32_t at = (uint32_t)ew_splitmix(page) % FRESH_MAX;
    while (fresh[at] && fresh[at] != page)
        at = (at + 1) % FRESH_MAX;
    return &fresh[at];
}

static void add_fresh(uintptr_t from, uintptr_t to) {
    for (uintptr_t page = from & -PAGE; page < to && !incomplete; page += PAGE) {
        uintptr_t *at = fresh_at(page);
        incomplete |= !*at && ++fresh_count > FRESH_MAX / 2;
        *at = page;
    }
}

// What was not mapped then was nothing.
static void tell_page(uintptr_t page) {
    EW_LARGE static uint64_t before[WORDS], after[WORDS];
    if (raw6(SYS_pread64, memory, (long)before, PAGE, (long)page, 0, 0) != (long)PAGE)
        memset(before, 0, PAGE);
    if (!ew_peek(after, (const void *)page, PAGE))
        return;
    bool all = *fresh_at(page);
    for (size_t i = 0; i < WORDS && !incomplete; i++)
        if (all || before[i] != after[i])
            tell_word(page + i * sizeof *after, before[i], after[i]);
}

// Bits of the kernel's table.
#define IS_THERE (3ul << 62) // in memory, or swapped
#define PRESENT (1ul << 63)
#define OF_FILE (1ul << 61)
#define NOT_SHARED (1ul << 56)
#define AT_ONCE 512

static bool may_be_changed(uint64_t entry) {
    if (!(entry & IS_THERE) || entry & OF_FILE)
        return false;
    return entry & NOT_SHARED || !(entry & PRESENT);
}

static void tell_mapping(uintptr_t from, uintptr_t to, const char *access) {
    EW_LARGE static uint64_t entries[AT_ONCE];
    if (access[0] != 'r' || access[1] != 'w' || access[3] != 'p')
        return;
    for (uintptr_t at = from; at < to && !incomplete; at += AT_ONCE * PAGE) {
        size_t count = (to - at) / PAGE < AT_ONCE ? (to - at) / PAGE : AT_ONCE;
        long size = (long)(count * sizeof *entries), offset = (long)(at / PAGE * sizeof *entries);
        incomplete |= raw6(SYS_pread64, pagemap, (long)entries, size, offset, 0, 0) != size;
        for (size_t i = 0; i < count && !incomplete; i++)
            if (may_be_changed(entries[i]) || *fresh_at(at + i * PAGE))
                tell_page(at + i * PAGE);
    }
}

// The first word of the copy's code can be read, or none of its memory can.
static bool is_readable(void) {
    uint64_t word;
    return memory >= 0 && raw6(SYS_pread64, memory, (long)&word, sizeof word,
                               (long)(uintptr_t)ew_left_tell, 0, 0) == sizeof word;
}

void ew_left_tell(void) {
    if (!copy)
        return;
    memory = open_memory();
    pagemap = (int)raw3(SYS_open, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    if (is_readable() && ew_maps_each(tell_mapping) && !incomplete)
        ew_left_again();
    raw1(SYS_close, memory);
    raw1(SYS_close, pagemap);
    end_copy();
}

// There is one such row, or it does not hold.
void ew_left_again(void) {
    struct ew_thread_change last = {0};
    if (asked)
        ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_CHANGES, &last);
}

// --- blocks that come behind the cut
//
// What was there before is no difference: a block has it from whoever had the memory earlier.

#define KNOWN_MAX (1ul << 16)
#define ALL_MAX (1ul << 26)

static const void *moved;
static size_t kept, told;

void ew_left_moves(const void *old, size_t size) {
    moved = old;
    kept = size;
}

void ew_left_allocated(const void *block, size_t size, uint32_t event) {
    if (!copy)
        return;
    struct ew_thread_stale row = {.address = (uintptr_t)block,
                                  .known = size < KNOWN_MAX ? size : KNOWN_MAX,
                                  .moved = (uintptr_t)moved,
                                  .kept = kept,
                                  .event = event,
                                  .length = (uint32_t)(size < KNOWN_MAX ? size : KNOWN_MAX)};
    while (row.length && !((const char *)block)[row.length - 1])
        row.length--;
    add_fresh(row.address, row.address + row.known);
    told += row.length;
    incomplete |= told > ALL_MAX;
    if (!incomplete)
        ew_trace_tailed(&ew_trace_names, EW_BLOCK_THREAD_STALE, &row, block, row.length);
}
