// SPDX-License-Identifier: Apache-2.0
// Memory that can be written to, but for our own and what lies below the stacks in use; registers
// are on the stacks, of the running thread too. Of time, only how long threads still wait: moments
// must not stand on stacks.
#include "fingerprint.h"
#include "hashes.h"
#include "maps.h"
#include "own_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096ul
#define THREADS_MAX 256
#define PAGES_MAX (1ul << 18)

struct range {
    uintptr_t from, to;
};

static struct {
    struct range skipped[THREADS_MAX + 4];
    uint32_t count;
    const char *first_stack; // where the first thread's ends
    uint64_t hash, pages, pages_before, changed;
    bool unknown;
} all EW_LARGE;
EW_LARGE static uint32_t sums_before[PAGES_MAX]; // of each page, in order

static void add(uint64_t word) {
    all.hash = ew_splitmix(all.hash ^ word);
}

static void skip(const void *from, const void *to) {
    all.skipped[all.count++] = (struct range){(uintptr_t)from, (uintptr_t)to};
}

// --- memory

// Four sums side by side: one alone would wait for each multiplication.
static uint64_t add_bytes(const char *at, size_t size) {
    uint64_t sums[4] = {(uintptr_t)at, 1, 2, 3}, words[4];
    for (; size >= sizeof words; at += sizeof words, size -= sizeof words) {
        memcpy(words, at, sizeof words);
        for (int i = 0; i < 4; i++)
            sums[i] = ew_hash_word(sums[i], words[i]);
    }
    add(ew_hash_bytes(sums[0], at, size) ^ ew_splitmix(sums[1]));
    add(sums[2] ^ ew_splitmix(sums[3]));
    return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}

static const struct range *first_skipped(uintptr_t from, uintptr_t to) {
    const struct range *first = NULL;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct range *one = &all.skipped[i];
        if (one->from < to && one->to > from && (!first || one->from < first->from))
            first = one;
    }
    return first;
}

struct sum {
    uint64_t sum;
    bool empty; // all of it is skipped
};

static struct sum add_range(uintptr_t from, uintptr_t to) {
    struct sum result = {0, true};
    for (const struct range *hole; from < to && (hole = first_skipped(from, to));) {
        if (hole->from > from) {
            result.sum += add_bytes((const char *)from, hole->from - from);
            result.empty = false;
        }
        from = hole->to < to ? hole->to : to;
    }
    if (from < to) {
        result.sum += add_bytes((const char *)from, to - from);
        result.empty = false;
    }
    return result;
}

// One that is all ours does not count: how many of those there are, a copy of a run that stands
// still and a run that did all of it itself have not in common.
static void add_page(uintptr_t page) {
    struct sum added = add_range(page, page + PAGE);
    if (added.empty)
        return;
    uint64_t sum = ew_splitmix(added.sum) >> 32;
    all.changed += all.pages >= all.pages_before || sums_before[all.pages] != sum;
    sums_before[all.pages++] = (uint32_t)sum;
}

// Of a mapping only what is there; the rest is as it was mapped.
#define AT_ONCE 512
#define IS_THERE (3ul << 62)

static int pagemap;

static void add_mapping(uintptr_t from, uintptr_t to) {
    EW_LARGE static uint64_t entries[AT_ONCE];
    while (from < to && all.pages < PAGES_MAX) {
        size_t count = (to - from) / PAGE < AT_ONCE ? (to - from) / PAGE : AT_ONCE;
        long offset = (long)(from / PAGE * sizeof *entries);
        long got = raw6(SYS_pread64, pagemap, (long)entries, (long)(count * sizeof *entries),
                        offset, 0, 0);
        all.unknown |= got != (long)(count * sizeof *entries);
        for (size_t i = 0; i < count && !all.unknown && all.pages < PAGES_MAX; i++)
            if (entries[i] & IS_THERE)
                add_page(from + i * PAGE);
        from += count * PAGE;
    }
}

// What lies below the first thread's stack pointer is as far as its mapping goes.
static void take_mapping(uintptr_t from, uintptr_t to, const char *access) {
    uintptr_t stack = (uintptr_t)all.first_stack;
    if (access[1] != 'w' || access[0] != 'r')
        return;
    all.unknown |= access[3] == 's';
    add_mapping(stack >= from && stack < to ? stack & ~(PAGE - 1) : from, to);
}

static void add_memory(void) {
    pagemap = (int)raw3(SYS_open, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    all.unknown |= pagemap < 0 || !ew_maps_each(take_mapping);
    raw1(SYS_close, pagemap);
}

// --- threads

static void add_thread(const struct ew_thread *thread, const char *sp) {
    add((uint64_t)thread->id << 8 | (uint64_t)thread->state << 4 |
        (uint64_t)thread->timed_out << 1 | thread->woken);
    add(thread->state == EW_BLOCKED ? (uintptr_t)thread->waits_for : 0);
    add((uintptr_t)sp);
    if (thread->state == EW_BLOCKED)
        add(thread->deadline == EW_NEVER ? 0 : (uint64_t)(thread->deadline - ew_elapsed()));
    if (thread->state == EW_BLOCKED && thread->wait_previous)
        add(thread->wait_previous->id);
    if (thread->specific)
        add_bytes((const char *)thread->specific, PTHREAD_KEYS_MAX * sizeof *thread->specific);
    if (thread->life.first)
        all.first_stack = sp;
    else if (thread->stack && sp > thread->stack && sp < thread->stack + thread->stack_size)
        skip(thread->stack, sp);
    all.unknown |= thread->life.attention;
}

static const char *sp_of(const struct ew_thread *thread, const char *own_sp) {
    if (thread->life.sleep.program_sp)
        return thread->life.sleep.program_sp;
    return thread == ew_self ? own_sp : thread->sp;
}

static void add_threads(const char *own_sp) {
    add(ew_self->id);
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        add_thread(ew_thread_at(i), sp_of(ew_thread_at(i), own_sp));
}

// Where each stands: its registers and innermost frames, as far as the page goes.
static void add_places(const char *own_sp) {
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        uintptr_t sp = (uintptr_t)sp_of(ew_thread_at(i), own_sp);
        if (sp)
            add_range(sp, (sp | (PAGE - 1)) + 1);
    }
}

// Where the kernel tells on which processor the carrier runs; newer than some C libraries.
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
#define RSEQ_LEAST 32

static void skip_what_the_kernel_writes(void) {
    if (!&__rseq_offset || !&__rseq_size)
        return;
    const struct ew_thread *first = ew_thread_with(0);
    all.unknown |= !first;
    const char *area = (const char *)(first ? first->fs : 0) + __rseq_offset;
    skip(area, area + (__rseq_size > RSEQ_LEAST ? __rseq_size : RSEQ_LEAST));
}

static bool begin(void) {
    all.count = 0;
    all.hash = 0;
    all.first_stack = NULL;
    all.unknown = ew_thread_count() > THREADS_MAX;
    if (all.unknown)
        return false;
    skip(ew_own_data, ew_own_data_end);
    skip(ew_own_bss, ew_own_bss_end);
    skip_what_the_kernel_writes();
    return true;
}

__attribute__((used)) static void take(const char *sp) {
    if (!begin())
        return;
    all.pages_before = all.pages;
    all.pages = all.changed = 0;
    add_threads(sp);
    add_memory();
    all.unknown |= all.pages >= PAGES_MAX;
}

__attribute__((used)) static void take_places(const char *sp) {
    if (!begin())
        return;
    add_threads(sp);
    add_places(sp);
}

bool ew_fingerprint(struct ew_fingerprint *result) {
    ew_with_registers(take);
    *result = (struct ew_fingerprint){all.hash, all.pages, all.changed};
    return !all.unknown;
}

bool ew_fingerprint_of_places(uint64_t *hash) {
    ew_with_registers(take_places);
    *hash = all.hash;
    return !all.unknown;
}
