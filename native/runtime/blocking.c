// SPDX-License-Identifier: Apache-2.0
// Calls that may block: other threads run while one of them waits.
//
// Each is the system call itself, made only when it will not block the carrier: the descriptor is
// looked at first, and if it is not ready its thread waits for it. What comes from outside goes
// through the input; in a replay nothing is asked of the outside, and nothing is sent to it.
#include "input.h"
#include "polling.h"

#include <errno.h>
#include <fcntl.h>
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

static void until_ready(int descriptor, short events, bool outside) {
    struct pollfd one = {descriptor, events, 0};
    while (!ew_interrupted(false) && ew_look_at(&one, 1, outside) == 0) {
        ew_wait_outside(&one, 1, EW_NEVER);
        ew_testcancel();
    }
}

// Regular files are always ready, so for them this is only a decision point.
static bool begin(int descriptor, short events, bool may_wait) {
    if (!ew_running)
        return false;
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    ew_self->life.interrupted = EW_UNDISTURBED;
    bool outside = ew_is_outside(descriptor);
    if (may_wait && would_block_carrier(descriptor))
        until_ready(descriptor, events, outside);
    return outside;
}

static long call(bool outside, long number, int fd, long b, long c, long d, long e, long f) {
    if (ew_running && ew_interrupted(false))
        return -EINTR; // a handler ran while it waited
    return (outside ? ew_input_call : raw6)(number, fd, b, c, d, e, f);
}

// The program's output is written in a replay too: as much as was taken then, however long that
// takes now.
static void write_again(int fd, const struct iovec *parts, size_t count, long length) {
    for (size_t i = 0; i < count && length > 0; i++) {
        const char *at = parts[i].iov_base;
        long left = (size_t)length < parts[i].iov_len ? length : (long)parts[i].iov_len;
        length -= left;
        while (left > 0) {
            struct pollfd one = {fd, POLLOUT, 0};
            raw3(SYS_poll, (long)&one, 1, -1);
            long done = raw3(SYS_write, fd, (long)at, left);
            if (done < 0 && done != -EAGAIN && done != -EINTR)
                return;
            at += done > 0 ? done : 0;
            left -= done > 0 ? done : 0;
        }
    }
}

static long put(int fd, const struct iovec *parts, size_t count) {
    bool outside = begin(fd, POLLOUT, true);
    long done = call(outside, SYS_writev, fd, (long)parts, (long)count, 0, 0, 0);
    if (outside && ew_replaying && done > 0 && ew_is_output(fd))
        write_again(fd, parts, count, done);
    return result(done);
}

// The bytes that a call has put into these buffers, one after the other.
static void received(bool outside, const struct iovec *parts, size_t count, long length) {
    for (size_t i = 0; outside && i < count && length > 0; i++) {
        size_t size = (size_t)length < parts[i].iov_len ? (size_t)length : parts[i].iov_len;
        ew_input(EW_INPUT_DATA, parts[i].iov_base, size, parts[i].iov_len);
        length -= (long)size;
    }
}

// A buffer whose length the kernel sets: a sender's address, control data.
static void received_length(bool outside, void *buffer, void *length, size_t width) {
    if (!outside || !buffer)
        return;
    uint64_t room = 0;
    __builtin_memcpy(&room, length, width);
    ew_input(EW_INPUT_DATA, length, width, width);
    uint64_t size = 0;
    __builtin_memcpy(&size, length, width);
    ew_input(EW_INPUT_DATA, buffer, size < room ? size : room, room);
}

EW_EXPORT ssize_t read(int fd, void *buffer, size_t size) {
    bool outside = begin(fd, POLLIN, true);
    long got = call(outside, SYS_read, fd, (long)buffer, (long)size, 0, 0, 0);
    received(outside, &(struct iovec){buffer, size}, 1, got);
    return result(got);
}

EW_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count) {
    bool outside = begin(fd, POLLIN, true);
    long got = call(outside, SYS_readv, fd, (long)parts, count, 0, 0, 0);
    received(outside, parts, (size_t)count, got);
    return result(got);
}

EW_EXPORT ssize_t write(int fd, const void *buffer, size_t size) {
    return put(fd, &(struct iovec){(void *)buffer, size}, 1);
}

EW_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    return put(fd, parts, count < 0 ? SIZE_MAX : (size_t)count);
}

EW_EXPORT ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                           socklen_t *length) {
    bool outside = begin(fd, POLLIN, !(flags & MSG_DONTWAIT));
    socklen_t room = from && length ? *length : 0;
    long got =
        call(outside, SYS_recvfrom, fd, (long)buffer, (long)size, flags, (long)from, (long)length);
    received(outside, &(struct iovec){buffer, size}, 1, got);
    if (got >= 0 && room)
        received_length(outside, from, length, sizeof *length);
    return result(got);
}

EW_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

EW_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
                         const struct sockaddr *to, socklen_t length) {
    bool outside = begin(fd, POLLOUT, !(flags & MSG_DONTWAIT));
    return result(call(outside, SYS_sendto, fd, (long)buffer, (long)size, flags, (long)to, length));
}

EW_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags) {
    return sendto(fd, buffer, size, flags, NULL, 0);
}

EW_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    bool outside = begin(fd, POLLIN, !(flags & MSG_DONTWAIT));
    struct msghdr before = *message;
    long got = call(outside, SYS_recvmsg, fd, (long)message, flags, 0, 0, 0);
    if (got >= 0 && outside) {
        ew_input(EW_INPUT_DATA, &message->msg_flags, sizeof(int), sizeof(int));
        received(outside, message->msg_iov, message->msg_iovlen, got);
        received_length(outside, before.msg_name, &message->msg_namelen, sizeof(socklen_t));
        received_length(outside, before.msg_control, &message->msg_controllen, sizeof(size_t));
    }
    return result(got);
}

EW_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    bool outside = begin(fd, POLLOUT, !(flags & MSG_DONTWAIT));
    return result(call(outside, SYS_sendmsg, fd, (long)message, flags, 0, 0, 0));
}

// In a replay the connection is not there: a socket that leads nowhere takes its number.
static long accepted(long fd, int flags) {
    if (!ew_replaying || fd < 0)
        return fd;
    long placeholder = raw3(SYS_socket, AF_UNIX, SOCK_STREAM | (flags & SOCK_CLOEXEC), 0);
    if (placeholder != fd && placeholder >= 0) {
        raw3(SYS_dup3, placeholder, fd, flags & SOCK_CLOEXEC ? O_CLOEXEC : 0);
        raw1(SYS_close, placeholder);
    }
    if (flags & SOCK_NONBLOCK)
        raw3(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
    return fd;
}

EW_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    bool outside = begin(fd, POLLIN, true);
    socklen_t room = address && length ? *length : 0;
    long got = call(outside, SYS_accept4, fd, (long)address, (long)length, flags, 0, 0);
    if (got >= 0 && room)
        received_length(outside, address, length, sizeof *length);
    return (int)result(accepted(got, flags));
}

EW_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length) {
    return accept4(fd, address, length, 0);
}

// What _FORTIFY_SOURCE calls instead, with the size of the buffer behind.
_Noreturn void __chk_fail(void);

EW_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room) {
    if (size > room)
        __chk_fail();
    return read(fd, buffer, size);
}

EW_EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags) {
    if (size > room)
        __chk_fail();
    return recv(fd, buffer, size, flags);
}

EW_EXPORT ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
                                 struct sockaddr *from, socklen_t *length) {
    if (size > room)
        __chk_fail();
    return recvfrom(fd, buffer, size, flags, from, length);
}

EW_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length) {
    bool outside = begin(fd, POLLOUT, false);
    return (int)result(call(outside, SYS_connect, fd, (long)address, length, 0, 0, 0));
}
