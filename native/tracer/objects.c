// SPDX-License-Identifier: Apache-2.0
// What descriptors lead to: files, pipes, sockets, by device and inode.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "numbering.h"
#include "tracer.h"

static struct numbering objects;

// ---- what does not come of what the processes did

enum { RANDOM_DEVICE = 1, OF_PROC };

static struct {
    uint8_t *sorts; // by number
    size_t size;
} special;

static bool is_of_proc(dev_t device) {
    static dev_t proc;
    struct stat status;
    if (!proc && stat("/proc", &status) == 0)
        proc = status.st_dev;
    return device == proc;
}

static uint8_t sort_of(const struct stat *status) {
    bool random = status->st_rdev == makedev(1, 8) || status->st_rdev == makedev(1, 9);
    if (S_ISCHR(status->st_mode))
        return random ? RANDOM_DEVICE : 0;
    return S_ISREG(status->st_mode) && is_of_proc(status->st_dev) ? OF_PROC : 0;
}

static void note_sort(uint32_t number, uint8_t sort) {
    if (!sort)
        return;
    if (number >= special.size) {
        size_t size = (number + 1) * 2;
        uint8_t *sorts = realloc(special.sorts, size);
        if (!sorts)
            die(EXIT_UNAVAILABLE, "there is not enough memory");
        memset(sorts + special.size, 0, size - special.size);
        special.sorts = sorts;
        special.size = size;
    }
    special.sorts[number] = sort;
}

static bool is_sort(uint32_t number, uint8_t sort) {
    return number < special.size && special.sorts[number] == sort;
}

bool object_is_random(uint32_t number) {
    return is_sort(number, RANDOM_DEVICE);
}

// Of what /proc tells, what is about a process comes of the run, and all else of the machine.
bool object_is_of_machine(uint32_t number, pid_t thread, int descriptor, bool *random) {
    static const char proc[] = "/proc/", uuid[] = "/random/uuid";
    char path[64], name[256];
    *random = false;
    if (!is_sort(number, OF_PROC))
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, descriptor);
    ssize_t length = readlink(path, name, sizeof name - 1);
    if (length <= (ssize_t)strlen(proc) || strncmp(name, proc, strlen(proc)) != 0)
        return false;
    name[length] = '\0';
    char first = name[strlen(proc)];
    *random = length > (ssize_t)strlen(uuid) && !strcmp(name + length - strlen(uuid), uuid);
    return first < '0' || first > '9';
}

uint32_t object_of(const struct stat *status) {
    uint64_t key[2] = {status->st_dev, status->st_ino};
    bool is_new;
    uint32_t number = numbering_of(&objects, key, sizeof key, &is_new);
    if (is_new)
        note_sort(number, sort_of(status));
    if (is_new)
        log_object(&(struct ew_process_object){.device = status->st_dev,
                                               .inode = status->st_ino,
                                               .mode = status->st_mode,
                                               .links = (uint32_t)status->st_nlink});
    return number;
}

bool position_matters(uint64_t number) {
    return number == SYS_read || number == SYS_write || number == SYS_readv ||
           number == SYS_writev || number == SYS_lseek || number == SYS_getdents64;
}

uint32_t object_of_descriptor(pid_t thread, int descriptor, struct stat *status) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, descriptor);
    if (descriptor < 0 || stat(path, status) < 0)
        return 0;
    return object_of(status);
}
