// SPDX-License-Identifier: Apache-2.0
// What descriptors lead to: files, pipes, sockets, by device and inode.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numbering.h"
#include "tracer.h"

static struct numbering objects;

uint32_t object_of(const struct stat *status) {
    uint64_t key[2] = {status->st_dev, status->st_ino};
    bool is_new;
    uint32_t number = numbering_of(&objects, key, sizeof key, &is_new);
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
