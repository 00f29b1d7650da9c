// SPDX-License-Identifier: Apache-2.0
// What takes a number is of the kind that it was: who asks what it is gets the same answer.
#include "placeholder.h"
#include "input.h"

#include <fcntl.h>
#include <sys/socket.h>

#ifndef SYS_memfd_create
#define SYS_memfd_create 319
#endif

static long make(mode_t type, off_t size) {
    int ends[2];
    long fd;
    switch (type) {
    case S_IFREG:
        fd = raw3(SYS_memfd_create, (long)"", 0, 0);
        raw3(SYS_ftruncate, fd, size, 0);
        return fd;
    case S_IFIFO:
        if (raw3(SYS_pipe2, (long)ends, 0, 0) < 0)
            return -1;
        raw1(SYS_close, ends[1]);
        return ends[0];
    default:
        return raw3(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    }
}

void ew_placeholder(int descriptor, mode_t type, off_t size, int flags) {
    long made = make(type, size);
    if (made < 0)
        ew_cannot("no descriptor is left for the replay");
    if (made != descriptor) {
        raw3(SYS_dup3, made, descriptor, flags & O_CLOEXEC);
        raw1(SYS_close, made);
    } else if (flags & O_CLOEXEC) {
        raw3(SYS_fcntl, descriptor, F_SETFD, FD_CLOEXEC);
    }
    if (flags & O_NONBLOCK)
        raw3(SYS_fcntl, descriptor, F_SETFL, O_RDWR | O_NONBLOCK);
}

void ew_came_from_outside(int descriptor, bool close_on_exec) {
    struct stat status = {0};
    int64_t kind[3];
    if (!ew_replaying) {
        raw3(SYS_fstat, descriptor, (long)&status, 0);
        kind[0] = status.st_mode & S_IFMT;
        kind[1] = status.st_size;
        kind[2] = raw3(SYS_fcntl, descriptor, F_GETFL, 0);
    }
    ew_input(EW_INPUT_DATA, kind, sizeof kind, sizeof kind);
    if (ew_replaying)
        ew_placeholder(descriptor, (mode_t)kind[0], kind[1],
                       (int)(kind[2] & O_NONBLOCK) | (close_on_exec ? O_CLOEXEC : 0));
    ew_numbered_outside(descriptor);
}
