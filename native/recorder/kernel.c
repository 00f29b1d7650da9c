// SPDX-License-Identifier: Apache-2.0
// What the programs in the kernel have seen, out of their ring. It lies in shared memory. Each page
// that is mapped takes its time: a part is mapped only when it is come to.
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

enum { WORD = sizeof(uint64_t), LINE = 64, AHEAD = 1024 };
enum { PART = 1 << 18, SIZE = sizeof(struct seen_ring), PARTS = SIZE / PART + 1 };
enum { TOLD_EVERY = 1 << 15 }; // bytes: how far we have read, to those who write
enum { ROUND = 1 << 18 };      // of the ring that is used, where the reader keeps up

static int loader;
static int ring;
static struct seen_ring *records;
static bool is_mapped[PARTS];
static const volatile uint64_t *counts;
static struct {
    int map;
    _Atomic uint64_t *read; // two pages of the kernel's
    const _Atomic uint64_t *written;
} bell;

static noreturn void cannot_map(void) {
    die(EXIT_UNAVAILABLE, "BPF cannot be used: its ring cannot be mapped here");
}

// Of the ring, in its place.
static void map_part(size_t part) {
    size_t start = part * PART, end = start + PART < SIZE ? start + PART : SIZE;
    char *to = (char *)records + start;
    if (mmap(to, end - start, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, ring, (off_t)start) ==
        MAP_FAILED)
        cannot_map();
    madvise(to, end - start, MADV_DONTFORK); // the command does without its thousands of pages
    is_mapped[part] = true;
}

static void *mapped(int map, size_t size, int rights, off_t at) {
    void *memory = mmap(NULL, size, rights, MAP_SHARED, map, at);
    if (memory == MAP_FAILED)
        cannot_map();
    return memory;
}

static void map_all(int from_ring, int from_counts, int from_bell) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    off_t page = sysconf(_SC_PAGESIZE);
    ring = from_ring;
    records = mmap(NULL, SIZE, PROT_NONE, flags, -1, 0);
    if (records == MAP_FAILED)
        cannot_map();
    map_part(0);
    counts = mapped(from_counts, SEEN_COUNTS * sizeof *counts, PROT_READ, 0);
    bell.map = from_bell;
    bell.read = mapped(from_bell, (size_t)page, PROT_READ | PROT_WRITE, 0);
    bell.written = mapped(from_bell, (size_t)page, PROT_READ, page);
    close(from_counts);
}

void kernel_begin(int socket) {
    char text[512];
    int maps[3];
    loader = socket;
    message_send(loader, '?', NULL, 0);
    ssize_t length = message_receive(loader, text, sizeof text - 1, maps, 3);
    text[length > 0 ? length : 0] = '\0';
    if (maps[0] < 0)
        die(EXIT_UNAVAILABLE, "%s", length > 0 ? text : "BPF cannot be used: its loader ended");
    map_all(maps[0], maps[1], maps[2]);
}

void kernel_add(pid_t process) {
    int none, handle = (int)syscall(SYS_pidfd_open, process, 0);
    char word = 'n';
    if (handle >= 0 && message_send(loader, 'a', &handle, 1))
        message_receive(loader, &word, 1, &none, 1);
    if (word != 'y')
        die(EXIT_UNAVAILABLE, "BPF cannot be used: the command cannot be marked");
    close(handle);
}

void kernel_done(void) {
    message_send(loader, 'd', NULL, 0);
}

// Where it lies: it may go on in the part behind.
static const char *place(uint64_t at) {
    size_t offset = offsetof(struct seen_ring, records) + at % SEEN_RING;
    size_t last = offset + WORD + sizeof(struct seen) - 1;
    if (!is_mapped[offset / PART])
        map_part(offset / PART);
    if (!is_mapped[last / PART])
        map_part(last / PART);
    return (const char *)records + offset;
}

// It lies in another's cache.
static void ask_for(uint64_t *asked, uint64_t until) {
    for (; *asked < until; *asked += LINE) {
        size_t offset = offsetof(struct seen_ring, records) + *asked % SEEN_RING;
        if (is_mapped[offset / PART])
            __builtin_prefetch((const char *)records + offset);
    }
}

static _Atomic uint64_t *written(void) {
    return (_Atomic uint64_t *)(void *)&records->written;
}

static _Atomic uint64_t *read_so_far(void) {
    return (_Atomic uint64_t *)(void *)&records->read;
}

static uint64_t head_at(const char *record) {
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)record,
                                memory_order_acquire);
}

static void take_one(kernel_taker take, const char *record, size_t size, uint64_t at) {
    static struct seen brief; // there is nothing behind its front
    if (size <= offsetof(struct seen, second)) {
        memcpy(&brief, record, size);
        take(&brief, at);
    } else {
        take((const struct seen *)(const void *)record, at);
    }
}

// What is left of a round is left out, if nobody has written meanwhile: what is written over and
// over stays in the caches, and no more of the ring need be mapped. The room is told before, and
// told again where somebody has.
static uint64_t begin_again(uint64_t at) {
    uint64_t round = at / SEEN_RING * SEEN_RING + SEEN_RING, now = at;
    if (at % SEEN_RING < ROUND)
        return at;
    atomic_store(read_so_far(), round);
    return atomic_compare_exchange_strong(written(), &now, round) ? round : at;
}

int kernel_bell(void) {
    return bell.map;
}

int kernel_take(kernel_taker take) {
    *bell.read = *bell.written;
    uint64_t at = records->read, told = at, asked = at, end = at, most = at + SEEN_RING;
    int count = 0;
    for (; at < most; count++) {
        if (at == end)
            end = atomic_load_explicit(written(), memory_order_acquire);
        if (at == end)
            break; // nobody has written meanwhile
        const char *record = place(at);
        uint64_t head = head_at(record), size = head % (1 << SEEN_SIZE_BITS);
        if (head != SEEN_HEAD(at, size) || size > sizeof(struct seen))
            break; // it is being written
        ask_for(&asked, at + AHEAD);
        take_one(take, record + WORD, size, at + WORD);
        at += (WORD + size + WORD - 1) / WORD * WORD;
        if (at - told > TOLD_EVERY)
            atomic_store_explicit(read_so_far(), told = at, memory_order_release);
    }
    atomic_store_explicit(read_so_far(), begin_again(at), memory_order_release);
    return count;
}

uint64_t kernel_count(unsigned which) {
    return counts[which];
}
