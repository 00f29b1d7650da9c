// SPDX-License-Identifier: Apache-2.0
// Calls that may block: other threads run while one of them waits.
//
// Each is the system call itself, made only when it will not block the carrier: the descriptor is
// looked at first, and if it is not ready its thread waits for it.
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static long result(long value) {
    if (value >= 0 || value < -4095)
        return value;
    errno = (int)-value;
    return -1;
}

static bool would_block_carrier(int descriptor) {
    long flags = raw3(SYS_fcntl, descriptor, F_GETFL, 0);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

// Regular files are always ready, so this ends at once for them.
static void until_ready(int descriptor, short events) {
    if (!ew_running)
        return;
    ew_point(EW_WHY_SYNC);
    if (!would_block_carrier(descriptor))
        return;
    struct pollfd one = {descriptor, events, 0};
    while (raw3(SYS_poll, (long)&one, 1, 0) == 0)
        ew_wait_outside(&one, 1, EW_NEVER);
}

#define CALL(number, ...) result(raw6(number, __VA_ARGS__))

EW_EXPORT ssize_t read(int fd, void *buffer, size_t size) {
    until_ready(fd, POLLIN);
    return CALL(SYS_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

EW_EXPORT ssize_t write(int fd, const void *buffer, size_t size) {
    until_ready(fd, POLLOUT);
    return CALL(SYS_write, fd, (long)buffer, (long)size, 0, 0, 0);
}

EW_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count) {
    until_ready(fd, POLLIN);
    return CALL(SYS_readv, fd, (long)parts, count, 0, 0, 0);
}

EW_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    until_ready(fd, POLLOUT);
    return CALL(SYS_writev, fd, (long)parts, count, 0, 0, 0);
}

EW_EXPORT ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                           socklen_t *length) {
    if (!(flags & MSG_DONTWAIT))
        until_ready(fd, POLLIN);
    return CALL(SYS_recvfrom, fd, (long)buffer, (long)size, flags, (long)from, (long)length);
}

EW_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

EW_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
                         const struct sockaddr *to, socklen_t length) {
    if (!(flags & MSG_DONTWAIT))
        until_ready(fd, POLLOUT);
    return CALL(SYS_sendto, fd, (long)buffer, (long)size, flags, (long)to, length);
}

EW_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags) {
    return sendto(fd, buffer, size, flags, NULL, 0);
}

EW_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    if (!(flags & MSG_DONTWAIT))
        until_ready(fd, POLLIN);
    return CALL(SYS_recvmsg, fd, (long)message, flags, 0, 0, 0);
}

EW_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    if (!(flags & MSG_DONTWAIT))
        until_ready(fd, POLLOUT);
    return CALL(SYS_sendmsg, fd, (long)message, flags, 0, 0, 0);
}

EW_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    until_ready(fd, POLLIN);
    return (int)CALL(SYS_accept4, fd, (long)address, (long)length, flags, 0, 0);
}

EW_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length) {
    return accept4(fd, address, length, 0);
}

// --- several descriptors at once

static int64_t deadline_in(int64_t nanoseconds) {
    return nanoseconds < 0 ? EW_NEVER : ew_now() + nanoseconds;
}

EW_EXPORT int poll(struct pollfd *fds, nfds_t count, int milliseconds) {
    int64_t deadline = deadline_in(milliseconds * 1000000ll);
    ew_point(EW_WHY_SYNC);
    for (bool last = milliseconds == 0;;) {
        long ready = raw3(SYS_poll, (long)fds, (long)count, 0);
        if (ready || last)
            return (int)result(ready);
        last = ew_wait_outside(fds, (uint32_t)count, deadline) == EW_TIMED_OUT;
    }
}

EW_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int milliseconds,
                          const sigset_t *mask) {
    struct pollfd one = {fd, POLLIN, 0};
    int64_t deadline = deadline_in(milliseconds * 1000000ll);
    ew_point(EW_WHY_SYNC);
    for (bool last = milliseconds == 0;;) {
        long ready = raw6(SYS_epoll_pwait, fd, (long)events, count, 0, (long)mask, 8);
        if (ready || last)
            return (int)result(ready);
        last = ew_wait_outside(&one, 1, deadline) == EW_TIMED_OUT;
    }
}

EW_EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int milliseconds) {
    return epoll_pwait(fd, events, count, milliseconds, NULL);
}

// --- signals

EW_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signal) {
    int fd = (int)raw6(SYS_signalfd4, -1, (long)set, 8, SFD_CLOEXEC | SFD_NONBLOCK, 0, 0);
    if (fd < 0)
        return -fd;
    struct signalfd_siginfo info;
    struct pollfd one = {fd, POLLIN, 0};
    while (raw3(SYS_read, fd, (long)&info, sizeof info) != sizeof info)
        ew_wait_outside(&one, 1, EW_NEVER);
    raw1(SYS_close, fd);
    *signal = (int)info.ssi_signo;
    return 0;
}
