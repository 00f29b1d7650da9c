// SPDX-License-Identifier: Apache-2.0
// fcntl and ioctl: what of them waits, copies a descriptor, or is told by the outside.
#include "connections.h"
#include "filelocks.h"
#include "input.h"
#include "sync.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <termios.h>

static long control(int fd, int command, long argument, const void *pc) {
    switch (command) {
    case F_SETFL:
        ew_connection_changes(fd);
        return ew_result(raw3(SYS_fcntl, fd, command, argument));
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return ew_copy(fd, command, argument);
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return ew_result(ew_file_lock(fd, command, (struct flock *)argument, pc));
    default:
        return ew_result(raw3(SYS_fcntl, fd, command, argument));
    }
}

EW_EXPORT int fcntl64(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return (int)control(fd, command, argument, PC);
}

EW_EXPORT int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return (int)control(fd, command, argument, PC);
}

// --- ioctl

// Numbers that the outside changes: how much waits to be read or written, the size of a window.
static size_t answer_size(unsigned long request) {
    switch (request) {
    case FIONREAD:
    case TIOCOUTQ:
        return sizeof(int);
    case TIOCGWINSZ:
        return sizeof(struct winsize);
    default:
        return 0;
    }
}

static long ask(int fd, unsigned long request, void *answer, size_t size) {
    long result = ew_input_call(SYS_ioctl, fd, (long)request, (long)answer, 0, 0, 0);
    if (result >= 0)
        ew_input(EW_INPUT_DATA, answer, size, size);
    return result;
}

// Until all is out that was written to a terminal.
EW_EXPORT int tcdrain(int fd) {
    int left = 0;
    ew_testcancel();
    for (;;) {
        if (ioctl(fd, TIOCOUTQ, &left) < 0)
            return -1;
        if (left == 0)
            break;
        ew_wait_elsewhere(EW_NEVER);
        ew_testcancel();
        if (ew_interrupted(false))
            return (int)ew_result(-EINTR);
    }
    if (ew_running && ew_replaying && ew_is_outside(fd))
        return 0;
    return (int)ew_result(raw3(SYS_ioctl, fd, TCSBRK, 1));
}

EW_EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    long argument = va_arg(rest, long);
    va_end(rest);
    size_t size = ew_running ? answer_size(request) : 0;
    if (request == FIONBIO)
        ew_connection_changes(fd);
    if (size)
        ew_point(EW_WHY_SYNC);
    long result = size && ew_is_outside(fd) ? ask(fd, request, (void *)argument, size)
                                            : raw3(SYS_ioctl, fd, (long)request, argument);
    if (ew_running)
        ew_look_within(); // FIONBIO, TIOCSTI: anything
    return (int)ew_result(result);
}
