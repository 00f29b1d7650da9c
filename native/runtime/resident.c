// SPDX-License-Identifier: Apache-2.0
// Code that is there when a run begins.
//
// At a fork the kernel leaves out the page tables of what it can read again from files, so that
// each run takes a fault for each piece of code that it enters, and with it the pages around: 28 of
// the 79 faults of a short run. It does copy those of pages that were written. So the server
// writes one byte of each page of code that the first run needed, with what it held.
//
// Which ones: userfaultfd with WP_ASYNC (Linux 6.7) turns off the faulting of the pages around, and
// what is mapped at the end is what was needed. Where that is refused, runs take their faults.
#include "resident.h"
#include "own_memory.h"
#include "raw.h"
#include "runtime.h"

#include <fcntl.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define WP_ASYNC (1ul << 15) // as in <linux/userfaultfd.h> of Linux 6.7
#define ONLY_OF_USER_MODE 1
#define POPULATE_WRITE 23 // MADV_POPULATE_WRITE, Linux 5.14
#define PAGE 4096ul
#define TRIES 3        // runs that may end without having told
#define PAGES_MAX 1000 // a run that needs more is not short

// Shared by the server and the run that looks. It stays, so that all runs have the same mappings.
static struct noted {
    uint32_t done, count;
    uintptr_t pages[PAGES_MAX];
} *noted;
static bool sought; // from the runs to come
static uint32_t tries;
static int keeper[2]; // of descriptors that are on their way
static long looks;    // the process that does

static void close_keeper(void) {
    raw1(SYS_close, keeper[0]);
    raw1(SYS_close, keeper[1]);
}

// --- what is read from files

// Listed once, by the server: a run must not ask the loader when it ends, whose lock another of its
// threads may hold, and what a run has loaded itself the server does not have.
#define RANGES 1024
EW_LARGE static struct range {
    uintptr_t from, to;
} ranges[RANGES];
static uint32_t range_count;

static int list_parts(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    for (int i = 0; i < info->dlpi_phnum && range_count < RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + part->p_vaddr) & -PAGE;
        uintptr_t to = (info->dlpi_addr + part->p_vaddr + part->p_memsz + PAGE - 1) & -PAGE;
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            ranges[range_count++] = (struct range){from, to};
    }
    return 0;
}

static void each_range(void (*take)(uintptr_t from, uintptr_t to)) {
    for (uint32_t i = 0; i < range_count; i++)
        take(ranges[i].from, ranges[i].to);
}

// --- which pages of a range are mapped

#define PRESENT (1ul << 63)
#define OF_FILE (1ul << 61)
#define AT_ONCE 64

static int pagemap;

static void each_page(uintptr_t from, uintptr_t to, void (*take)(uintptr_t page)) {
    uint64_t entries[AT_ONCE];
    for (uintptr_t at = from; at < to; at += AT_ONCE * PAGE) {
        long got = raw6(SYS_pread64, pagemap, (long)entries, sizeof entries,
                        (long)(at / PAGE * sizeof *entries), 0, 0);
        for (long i = 0; i < got / (long)sizeof *entries && at + (uintptr_t)i * PAGE < to; i++)
            if ((entries[i] & (PRESENT | OF_FILE)) == (PRESENT | OF_FILE))
                take(at + (uintptr_t)i * PAGE);
    }
}

static bool open_pagemap(void) {
    pagemap = (int)raw3(SYS_open, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    return pagemap >= 0;
}

// --- in the run

static void take(const char *from, const char *to) {
    uintptr_t first = (uintptr_t)from & -PAGE;
    raw3(SYS_madvise, (long)first, (long)((uintptr_t)to - first), POPULATE_WRITE);
}

// Our own variables: many at once, which costs less than one by one. Those of the program that lie
// between our two parts may be of any size.
static void take_own(void) {
    take(ew_own_data, ew_own_data_end);
    take(ew_own_bss, (const char *)((uintptr_t)ew_own_large & -PAGE));
}

static int faults; // a userfaultfd that nobody reads

static void look_at(uintptr_t from, uintptr_t to) {
    struct uffdio_register range = {.range = {from, to - from}, .mode = UFFDIO_REGISTER_MODE_WP};
    raw3(SYS_ioctl, faults, UFFDIO_REGISTER, (long)&range);
}

// The program has no descriptor of it: a message that nobody takes keeps it open.
static bool hide(void) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(int))];
    } ancillary = {.aligned = {.cmsg_len = CMSG_LEN(sizeof(int)),
                               .cmsg_level = SOL_SOCKET,
                               .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {&ancillary, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = ancillary.bytes,
                             .msg_controllen = sizeof ancillary.bytes};
    *(int *)CMSG_DATA(&ancillary.aligned) = faults;
    return raw3(SYS_sendmsg, keeper[0], (long)&message, MSG_NOSIGNAL) == 1;
}

static bool begin_to_look(void) {
    struct uffdio_api api = {.api = UFFD_API, .features = WP_ASYNC};
    faults = (int)raw1(SYS_userfaultfd, O_CLOEXEC | ONLY_OF_USER_MODE);
    if (faults < 0)
        return false;
    bool can = raw3(SYS_ioctl, faults, (long)UFFDIO_API, (long)&api) == 0 && hide();
    if (can)
        each_range(look_at);
    raw1(SYS_close, faults);
    return can;
}

void ew_resident_run(void) {
    take_own();
    if (!sought)
        return;
    looks = begin_to_look() ? raw1(SYS_getpid, 0) : 0;
    close_keeper();
}

static void note_page(uintptr_t page) {
    if (noted->count < PAGES_MAX)
        noted->pages[noted->count] = page;
    noted->count++;
}

static void note_range(uintptr_t from, uintptr_t to) {
    each_page(from, to, note_page);
}

void ew_resident_tell(void) {
    if (!looks || looks != raw1(SYS_getpid, 0) || !open_pagemap())
        return;
    looks = 0;
    noted->count = 0;
    each_range(note_range);
    raw1(SYS_close, pagemap);
    noted->done = noted->count <= PAGES_MAX;
}

// --- in the server

void ew_resident_serve(void) {
    noted = ew_shared_pages(sizeof *noted);
    dl_iterate_phdr(list_parts, NULL);
    sought = raw6(SYS_socketpair, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, (long)keeper, 0, 0) == 0;
}

static void drop_page(uintptr_t page) {
    raw3(SYS_madvise, (long)page, PAGE, MADV_DONTNEED);
}

static void drop_range(uintptr_t from, uintptr_t to) {
    each_page(from, to, drop_page);
}

// Through the kernel, which lets the owner write what the mapping itself does not.
static void keep_pages(void) {
    int memory = (int)raw3(SYS_open, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
    for (uint32_t i = 0; memory >= 0 && i < noted->count && i < PAGES_MAX; i++)
        raw6(SYS_pwrite64, memory, (long)noted->pages[i], 1, (long)noted->pages[i], 0, 0);
    raw1(SYS_close, memory);
}

void ew_resident_ran(void) {
    if (!sought || (!noted->done && ++tries <= TRIES))
        return;
    if (noted->done && open_pagemap()) {
        keep_pages();
        each_range(drop_range); // what only the server needed comes again, for it
        raw1(SYS_close, pagemap);
    }
    sought = false;
    close_keeper();
}
