// SPDX-License-Identifier: Apache-2.0
// What the programs in the kernel have seen, out of their ring. It lies in shared memory: a page
// that says how far we have read, one that says how far they have written, and the records. The
// kernel offers these twice in a row, so that none is cut by the end; but each page that is mapped
// takes its time, so once must do, and a part only when it is come to.
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

enum { HEAD = 8, LINE = 64, AHEAD = 512 };
enum { PART = 1 << 18, PARTS = SEEN_RING / PART }; // a record is in one, or in two
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)

static int loader;
static _Atomic unsigned long *read_so_far;
static const _Atomic unsigned long *written;
static int ring;
static const char *parts[PARTS]; // NULL: not mapped yet
static const volatile uint64_t *counts;

static void *mapped(int map, size_t size, int rights, off_t at) {
    void *memory = mmap(NULL, size, rights, MAP_SHARED, map, at);
    if (memory == MAP_FAILED)
        die(EXIT_UNAVAILABLE, "BPF cannot be used: its ring cannot be mapped here");
    madvise(memory, size, MADV_DONTFORK); // the command does without its thousands of pages
    return memory;
}

void kernel_begin(int socket) {
    char text[512];
    int maps[2];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    loader = socket;
    message_send(loader, '?', NULL, 0);
    ssize_t length = message_receive(loader, text, sizeof text - 1, maps, 2);
    text[length > 0 ? length : 0] = '\0';
    if (maps[0] < 0)
        die(EXIT_UNAVAILABLE, "%s", length > 0 ? text : "BPF cannot be used: its loader ended");
    read_so_far = mapped(maps[0], page, PROT_READ | PROT_WRITE, 0);
    ring = maps[0];
    written = mapped(ring, page, PROT_READ, (off_t)page);
    counts = mapped(maps[1], SEEN_COUNTS * sizeof *counts, PROT_READ, 0);
    close(maps[1]);
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

static const char *place(unsigned long at) {
    const char **part = &parts[at % SEEN_RING / PART];
    if (!*part) { // behind two pages
        off_t start = 2 * sysconf(_SC_PAGESIZE) + (off_t)(part - parts) * PART;
        *part = mapped(ring, PART, PROT_READ, start);
    }
    return *part + at % PART;
}

// It lies in another's cache.
static void ask_for(unsigned long at) {
    const char *part = parts[at % SEEN_RING / PART];
    if (part)
        __builtin_prefetch(part + at % PART);
}

static void copy(void *to, unsigned long at, size_t size) {
    size_t first = PART - at % PART;
    first = first < size ? first : size;
    memcpy(to, place(at), first);
    if (first < size)
        memcpy((char *)to + first, place(at + first), size - first);
}

// A record may end early, or where its texts end.
static void take_one(kernel_taker take, unsigned long at, size_t size) {
    static struct seen brief, cut; // of the first there is nothing behind its front
    if (size <= offsetof(struct seen, second)) {
        copy(&brief, at, size);
        take(&brief, at);
    } else if (at % PART + size <= PART) {
        take((const struct seen *)(const void *)place(at), at);
    } else {
        copy(&cut, at, size < sizeof cut ? size : sizeof cut);
        take(&cut, at);
    }
}

int kernel_take(kernel_taker take) {
    unsigned long at = atomic_load_explicit(read_so_far, memory_order_relaxed);
    unsigned long end = atomic_load_explicit(written, memory_order_acquire);
    int count = 0;
    while (at < end) {
        const char *head = place(at);
        uint32_t length = atomic_load_explicit((const _Atomic uint32_t *)(const void *)head,
                                               memory_order_acquire);
        if (length & BUSY)
            break;
        ask_for(at + AHEAD);
        ask_for(at + AHEAD + LINE);
        uint32_t size = length & ~DISCARDED;
        if (!(length & DISCARDED))
            take_one(take, at + HEAD, size);
        at += (size + HEAD + 7) / 8 * 8;
        atomic_store_explicit(read_so_far, at, memory_order_release);
        count++;
    }
    return count;
}

uint64_t kernel_count(unsigned which) {
    return counts[which];
}
