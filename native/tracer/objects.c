// SPDX-License-Identifier: Apache-2.0
// What descriptors lead to: files, pipes, sockets, by device and inode.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

uint32_t object_of_descriptor(pid_t thread, int descriptor, struct stat *status) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, descriptor);
    if (descriptor < 0 || stat(path, status) < 0)
        return 0;
    return object_of(status);
}

// "pos:\t7\nflags:\t0100002\n..."
bool descriptor_position(struct thread *thread, int descriptor, uint64_t *position, bool *appends) {
    char text[64], *next;
    bool keep;
    int file = shared_position_file(thread, descriptor, &keep);
    ssize_t length = file < 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    if (file >= 0 && !keep)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    if (strncmp(text, "pos:", 4) != 0)
        return false;
    *position = strtoull(text + 4, &next, 10);
    next = strstr(next, "flags:");
    *appends = next && strtoull(next + 6, NULL, 8) & O_APPEND;
    return next != NULL;
}
