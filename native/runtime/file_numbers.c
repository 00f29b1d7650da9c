// SPDX-License-Identifier: Apache-2.0
#include "file_numbers.h"
#include "hashes.h"
#include "runtime.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

struct number {
    uint64_t device, inode;
};

static struct file {
    struct number now, told;
    uint32_t next_now, next_told; // in their chains: one more than its index, or 0
} *files;
static uint32_t count, room;

#define CHAINS 4096u // a power of two
EW_LARGE static uint32_t by_now[CHAINS], by_told[CHAINS];

#define NEW (1ull << 62) // from here on, numbers of files whose own is taken

static uint32_t chain_of(const struct number *number) {
    return (uint32_t)(ew_splitmix(number->inode ^ ew_splitmix(number->device)) % CHAINS);
}

static bool is_same(const struct number *one, const struct number *other) {
    return one->device == other->device && one->inode == other->inode;
}

static struct number number_of(const void *status, size_t size) {
    const struct stat *plain = status;
    const struct statx *more = status;
    if (size == sizeof *plain)
        return (struct number){plain->st_dev, plain->st_ino};
    return (struct number){makedev(more->stx_dev_major, more->stx_dev_minor), more->stx_ino};
}

static void put_number(void *status, size_t size, const struct number *number) {
    struct stat *plain = status;
    struct statx *more = status;
    if (size == sizeof *plain) {
        plain->st_dev = number->device;
        plain->st_ino = number->inode;
        return;
    }
    more->stx_dev_major = major(number->device);
    more->stx_dev_minor = minor(number->device);
    more->stx_ino = number->inode;
}

static struct file *found_now(const struct number *now) {
    uint32_t at = by_now[chain_of(now)];
    while (at && !is_same(&files[at - 1].now, now))
        at = files[at - 1].next_now;
    return at ? &files[at - 1] : NULL;
}

static struct file *found_told(const struct number *told) {
    uint32_t at = by_told[chain_of(told)];
    while (at && !is_same(&files[at - 1].told, told))
        at = files[at - 1].next_told;
    return at ? &files[at - 1] : NULL;
}

static struct file *added(const struct number *now) {
    if (count == room) {
        uint32_t more = room ? room * 2 : 512;
        files = ew_more_pages(files, room * sizeof *files, more * sizeof *files);
        room = more;
    }
    uint32_t *chain = &by_now[chain_of(now)];
    files[count] = (struct file){.now = *now, .next_now = *chain};
    *chain = ++count;
    return &files[count - 1];
}

static void out_of_chain(const struct file *file) {
    uint32_t *at = &by_told[chain_of(&file->told)], index = (uint32_t)(file - files) + 1;
    while (*at && *at != index)
        at = &files[*at - 1].next_told;
    if (*at)
        *at = file->next_told;
}

// A number that is free again may come to another file.
static void tell(const struct number *now, const struct number *told) {
    struct file *file = found_now(now);
    if (file && is_same(&file->told, told))
        return;
    if (file)
        out_of_chain(file);
    else
        file = added(now);
    uint32_t *chain = &by_told[chain_of(told)];
    file->told = *told;
    file->next_told = *chain;
    *chain = (uint32_t)(file - files) + 1;
}

bool ew_is_status(size_t size) {
    return size == sizeof(struct stat) || size == sizeof(struct statx);
}

void ew_file_was_told(const void *now, const void *told, size_t size) {
    struct number real = number_of(now, size), recorded = number_of(told, size);
    tell(&real, &recorded);
}

bool ew_file_may_be(const void *now, const void *told, size_t size) {
    struct number real = number_of(now, size), recorded = number_of(told, size);
    const struct file *known = found_now(&real);
    return known ? is_same(&known->told, &recorded) : !found_told(&recorded);
}

// What the recording calls the file system.
static uint64_t device_told(uint64_t device) {
    for (uint32_t i = 0; i < count; i++)
        if (files[i].now.device == device)
            return files[i].told.device;
    return device;
}

void ew_file_renumber(void *now, size_t size) {
    struct number real = number_of(now, size);
    const struct file *known = found_now(&real);
    struct number told = {device_told(real.device), real.inode};
    if (!known && found_told(&told))
        told.inode = NEW + count;
    if (!known)
        tell(&real, &told);
    put_number(now, size, known ? &known->told : &told);
}
