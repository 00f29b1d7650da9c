// SPDX-License-Identifier: Apache-2.0
// Which pages were written: userfaultfd with PAGEMAP_SCAN, soft-dirty bits, page frame numbers.
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 4, DIRTY = 2 }; // page number DIRTY is the one written

// Linux 6.7; the headers of the distributions we build on are older.
#define FEATURE_WP_UNPOPULATED (1u << 13)
#define FEATURE_WP_ASYNC (1u << 15)
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

struct scan_region {
    uint64_t start, end, categories;
};

struct scan_argument {
    uint64_t size, flags, start, end, walk_end, regions, regions_length, max_pages;
    uint64_t category_inverted, category_mask, category_any_of_mask, return_mask;
};

#define SCAN_REQUEST _IOWR('f', 16, struct scan_argument)
#define SCAN_IS_WRITTEN (1u << 1)
#define SCAN_WRITE_PROTECT_AGAIN (1u << 0)
#define SCAN_CHECK_ASYNC (1u << 1)

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

// Pages that are all present and private, so that only a later write tells them apart.
static char *touched_pages(void) {
    size_t size = PAGES * page_size();
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, size, MADV_NOHUGEPAGE);
    memset(pages, 1, size);
    return pages;
}

// The ways to a userfaultfd, from plain to most permitted; sets *way to the one that worked.
static int open_userfaultfd(const char **way) {
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    *way = "userfaultfd";
    if (fd >= 0)
        return fd;
    int error = errno;
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    *way = "userfaultfd for user mode";
    if (fd >= 0)
        return fd;
    int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
    if (device >= 0) {
        fd = ioctl(device, _IO(0xAA, 0x00), O_CLOEXEC);
        close(device);
    }
    *way = "/dev/userfaultfd";
    errno = error;
    return fd;
}

static int protect(int fd, const char *pages) {
    uint64_t start = (uint64_t)(uintptr_t)pages, length = PAGES * page_size();
    struct uffdio_register area = {.range = {start, length}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect all = {.range = {start, length},
                                      .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    if (ioctl(fd, UFFDIO_REGISTER, &area) < 0)
        return -1;
    return ioctl(fd, UFFDIO_WRITEPROTECT, &all);
}

// Arms write tracking on the pages: STATE_YES, and the way it was opened in the text.
static struct answer track(const char *pages, const char **way) {
    int fd = open_userfaultfd(way);
    if (fd < 0)
        return no("userfaultfd");
    struct uffdio_api api = {.api = UFFD_API,
                             .features = FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED};
    if (ioctl(fd, UFFDIO_API, &api) < 0)
        return no("userfaultfd with WP_ASYNC");
    if (protect(fd, pages) < 0)
        return no("write-protecting pages with userfaultfd");
    return yes("%s", *way);
}

// A write by the program and one by the kernel on its behalf must both go through.
static bool write_both_ways(char *page) {
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    page[0] = 7;
    bool done = zeros >= 0 && read(zeros, page + 1, 1) == 1;
    if (zeros >= 0)
        close(zeros);
    return done && page[0] == 7 && page[1] == 0;
}

struct answer probe_uffd_wp(void) {
    const char *way;
    char *pages = touched_pages();
    if (!pages)
        return no("mmap");
    struct answer a = track(pages, &way);
    if (a.state != STATE_YES)
        return a;
    if (!write_both_ways(pages + DIRTY * page_size()))
        return wrong("a write to a tracked page failed");
    return yes("WP_ASYNC through %s", way);
}

static struct answer scan(const char *pages) {
    struct scan_region found[PAGES];
    size_t page = page_size();
    struct scan_argument argument = {
        .size = sizeof argument,
        .flags = SCAN_WRITE_PROTECT_AGAIN | SCAN_CHECK_ASYNC,
        .start = (uint64_t)(uintptr_t)pages,
        .end = (uint64_t)(uintptr_t)pages + PAGES * page,
        .regions = (uint64_t)(uintptr_t)found,
        .regions_length = PAGES,
        .category_mask = SCAN_IS_WRITTEN,
        .return_mask = SCAN_IS_WRITTEN,
    };
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return no("open /proc/self/pagemap");
    int count = ioctl(fd, SCAN_REQUEST, &argument);
    if (count < 0)
        return no("PAGEMAP_SCAN");
    uint64_t dirty = argument.start + DIRTY * page;
    if (count != 1 || found[0].start != dirty || found[0].end != dirty + page)
        return wrong("PAGEMAP_SCAN did not return the one page written");
    return yes("PAGEMAP_SCAN returned the one page written");
}

struct answer probe_pagemap_scan(void) {
    const char *way;
    char *pages = touched_pages();
    if (!pages)
        return no("mmap");
    struct answer a = track(pages, &way);
    if (a.state != STATE_YES)
        return a;
    pages[DIRTY * page_size()] = 7;
    return scan(pages);
}

// The 64-bit pagemap entry of the page; 0, or -1 and errno.
static int pagemap_entry(const char *page, uint64_t *entry) {
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    off_t at = (off_t)((uintptr_t)page / page_size() * sizeof *entry);
    errno = EIO;
    bool whole = pread(fd, entry, sizeof *entry, at) == sizeof *entry;
    close(fd);
    return whole ? 0 : -1;
}

struct answer probe_pagemap_pfn(void) {
    uint64_t entry = 0;
    char *pages = touched_pages();
    if (!pages)
        return no("mmap");
    if (pagemap_entry(pages, &entry) < 0)
        return no("reading /proc/self/pagemap");
    if (!(entry & ((1ull << 55) - 1))) {
        errno = EPERM; // shown as zero to those who may not know them
        return no("page frame numbers in /proc/self/pagemap read as 0");
    }
    return yes("page frame numbers readable");
}

struct answer probe_soft_dirty(void) {
    const uint64_t soft_dirty = 1ull << 55;
    uint64_t clean = 0, dirty = 0;
    char *pages = touched_pages();
    if (!pages)
        return no("mmap");
    if (write_file("/proc/self/clear_refs", "4") < 0)
        return no("writing 4 to /proc/self/clear_refs");
    pages[DIRTY * page_size()] = 7;
    if (pagemap_entry(pages, &clean) < 0 || pagemap_entry(pages + DIRTY * page_size(), &dirty) < 0)
        return no("reading /proc/self/pagemap");
    if ((clean & soft_dirty) || !(dirty & soft_dirty))
        return wrong("soft-dirty bits do not follow writes (CONFIG_MEM_SOFT_DIRTY)");
    return yes("soft-dirty bits follow writes");
}
