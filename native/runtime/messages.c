// SPDX-License-Identifier: Apache-2.0
// recv and send with their kin. What comes through a socket can be descriptors, too.
#include "channels.h"
#include "connections.h"
#include "own_addresses.h"
#include "placeholder.h"
#include "sync.h"
#include "writing.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

// --- receiving

struct receiving {
    struct msghdr *message;
    int flags;
    size_t total, done; // MSG_WAITALL: of the bytes that are wanted
};

// Descriptors that came along. In a replay something that leads nowhere takes their numbers.
static void take_descriptors(const struct ew_transfer *transfer, struct msghdr *message,
                             int flags) {
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(at) + i * sizeof fd, sizeof fd);
            if (transfer->outside)
                ew_came_from_outside(fd, flags & MSG_CMSG_CLOEXEC);
        }
    }
}

static long receive(struct ew_transfer *transfer, void *argument) {
    struct receiving *receiving = argument;
    struct msghdr *message = receiving->message, before = *message;
    struct iovec window[64];
    int flags = receiving->flags | (transfer->waits ? MSG_DONTWAIT : 0);
    if (receiving->done) {
        message->msg_iov = window;
        message->msg_iovlen =
            ew_window(before.msg_iov, before.msg_iovlen, receiving->done, SIZE_MAX, window, 64);
        message->msg_name = message->msg_control = NULL;
    }
    long got = ew_transfer_call(transfer, SYS_recvmsg, (long)message,
                                transfer->waits ? flags & ~MSG_WAITALL : flags, 0, 0, 0);
    if (got >= 0 && transfer->outside) {
        struct ew_transfer all = *transfer;
        ew_received(&all, &(struct iovec){&message->msg_flags, sizeof(int)}, 1, sizeof(int));
        ew_received(&all, message->msg_iov, message->msg_iovlen, got);
        ew_received_length(&all, message->msg_name, before.msg_namelen, &message->msg_namelen,
                           sizeof(socklen_t));
        ew_received_length(&all, message->msg_control, before.msg_controllen,
                           &message->msg_controllen, sizeof(size_t));
    }
    if (got >= 0 && message->msg_control)
        take_descriptors(transfer, message, flags);
    message->msg_iov = before.msg_iov;
    message->msg_iovlen = before.msg_iovlen;
    if (receiving->done) {
        message->msg_name = before.msg_name;
        message->msg_control = before.msg_control;
    }
    return got;
}

static bool is_stream(const struct ew_transfer *transfer) {
    int type = 0;
    socklen_t length = sizeof type;
    raw6(SYS_getsockopt, transfer->fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&length, 0);
    return type == SOCK_STREAM;
}

static bool wants_more(const struct ew_transfer *transfer, const struct receiving *receiving) {
    return transfer->waits && receiving->flags & MSG_WAITALL &&
           receiving->done < receiving->total && !(receiving->flags & MSG_PEEK) &&
           is_stream(transfer);
}

static long receive_all(struct ew_transfer *transfer, struct receiving *receiving) {
    for (;;) {
        long got = ew_transfer_attempt(transfer, receive, receiving);
        if (got < 0)
            return receiving->done ? (long)receiving->done : got;
        receiving->done += (size_t)got;
        if (got == 0 || !wants_more(transfer, receiving))
            return (long)receiving->done;
    }
}

static long run(int fd, struct msghdr *message, int flags, bool listed, const void *pc) {
    struct ew_transfer transfer;
    struct receiving receiving = {message, flags, 0, 0};
    for (size_t i = 0; i < message->msg_iovlen && message->msg_iovlen <= IOV_MAX; i++)
        receiving.total += message->msg_iov[i].iov_len;
    ew_transfer_begin(&transfer, fd, flags & MSG_OOB ? POLLPRI : POLLIN,
                      !(flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)));
    transfer.pc = pc;
    if (listed) {
        ew_touch(EW_OP_LOAD, message, sizeof *message, pc);
        ew_touch_parts(message->msg_iov, message->msg_iovlen, pc);
    }
    long got = receive_all(&transfer, &receiving);
    if (got >= 0)
        ew_channel_took_on(transfer.fd, &transfer.status, pc);
    ew_transfer_end(&transfer);
    ew_transferred(EW_OP_STORE, message->msg_iov, message->msg_iovlen, got, pc);
    if (listed && got >= 0)
        ew_touch(EW_OP_STORE, &message->msg_flags, sizeof message->msg_flags, pc);
    return got;
}

EW_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    return ew_result(run(fd, message, flags, true, PC));
}

EW_EXPORT ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                           socklen_t *length) {
    struct iovec part = {buffer, size};
    struct msghdr message = {.msg_name = length ? from : NULL,
                             .msg_namelen = from && length ? *length : 0,
                             .msg_iov = &part,
                             .msg_iovlen = 1};
    long got = run(fd, &message, flags, false, PC);
    if (got >= 0 && from && length) {
        socklen_t room = *length;
        *length = message.msg_namelen;
        ew_touch(EW_OP_STORE, from, *length < room ? *length : room, PC);
        ew_touch(EW_OP_STORE, length, sizeof *length, PC);
    }
    return ew_result(got);
}

EW_EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags) {
    return recvfrom(fd, buffer, size, flags, NULL, NULL);
}

// --- sending

// Whoever gets it may be somebody else, and has the same in any case.
static void give_descriptors(const struct msghdr *message, bool outside) {
    struct msghdr copy = *message;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&copy); at; at = CMSG_NXTHDR(&copy, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        const int *given = (const int *)CMSG_DATA(at);
        for (size_t i = 0; i < (at->cmsg_len - CMSG_LEN(0)) / sizeof *given; i++) {
            ew_connections_forget((unsigned)given[i], (unsigned)given[i]);
            if (outside)
                ew_descriptor_shared(given[i]);
        }
    }
}

static ssize_t send_message(int fd, const struct msghdr *message, int flags, bool listed,
                            const void *pc) {
    if (message->msg_iovlen > IOV_MAX)
        return ew_result(-EMSGSIZE);
    ew_address_called(message->msg_name, message->msg_namelen);
    if (message->msg_control && ew_running)
        give_descriptors(message, ew_is_outside(fd));
    return ew_result(ew_write(fd, &(struct ew_writing){message->msg_iov, message->msg_iovlen,
                                                       message, flags, pc, listed}));
}

EW_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return send_message(fd, message, flags, true, PC);
}

EW_EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
                         const struct sockaddr *to, socklen_t length) {
    struct iovec part = {(void *)buffer, size};
    return send_message(fd,
                        &(struct msghdr){.msg_name = (void *)to,
                                         .msg_namelen = to ? length : 0,
                                         .msg_iov = &part,
                                         .msg_iovlen = 1},
                        flags, false, PC);
}

EW_EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags) {
    return sendto(fd, buffer, size, flags, NULL, 0);
}

// --- several at once: one after the other, as the kernel does it

// The limit is looked at after each message, not while one is waited for: see BUGS in recvmmsg(2).
EW_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                       struct timespec *limit) {
    if (limit && (limit->tv_sec < 0 || limit->tv_nsec < 0 || limit->tv_nsec > 999999999))
        return (int)ew_result(-EINVAL);
    int64_t deadline = limit ? ew_deadline_in(ew_nanoseconds(limit)) : EW_NEVER;
    for (unsigned done = 0; done < count; done++) {
        bool go_on = done == 0 || !(flags & MSG_WAITFORONE);
        int own = (flags & ~MSG_WAITFORONE) | (go_on ? 0 : MSG_DONTWAIT);
        long got = run(fd, &messages[done].msg_hdr, own, true, PC);
        if (got < 0)
            return done ? (int)done : (int)ew_result(got);
        messages[done].msg_len = (unsigned)got;
        ew_touch(EW_OP_STORE, &messages[done].msg_len, sizeof(unsigned), PC);
        if (limit && ew_now() >= deadline)
            return (int)done + 1;
    }
    return (int)count;
}

EW_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags) {
    for (unsigned done = 0; done < count; done++) {
        ssize_t sent = send_message(fd, &messages[done].msg_hdr, flags, true, PC);
        if (sent < 0)
            return done ? (int)done : -1;
        messages[done].msg_len = (unsigned)sent;
        ew_touch(EW_OP_STORE, &messages[done].msg_len, sizeof(unsigned), PC);
    }
    return (int)count;
}

// What _FORTIFY_SOURCE calls instead, with the size of the buffer behind.
_Noreturn void __chk_fail(void);

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
