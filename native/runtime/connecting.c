// SPDX-License-Identifier: Apache-2.0
// accept and connect: how connections begin.
#include "channels.h"
#include "connections.h"
#include "input.h"
#include "own_addresses.h"
#include "placeholder.h"
#include "sync.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

struct accepting {
    struct sockaddr *address;
    socklen_t *length;
    int flags;
};

static long take(struct ew_transfer *transfer, void *argument) {
    const struct accepting *accepting = argument;
    socklen_t room = accepting->address && accepting->length ? *accepting->length : 0;
    long fd = ew_transfer_call(transfer, SYS_accept4, (long)accepting->address,
                               (long)accepting->length, accepting->flags, 0, 0);
    if (fd < 0)
        return fd;
    if (transfer->outside && ew_replaying)
        ew_placeholder((int)fd, S_IFSOCK, 0, accepting->flags);
    ew_connection_accepted((int)fd);
    if (room)
        ew_received_length(transfer, accepting->address, room, accepting->length,
                           sizeof *accepting->length);
    return fd;
}

EW_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    struct accepting accepting = {address, length, flags};
    struct ew_transfer transfer;
    ew_transfer_begin(&transfer, fd, POLLIN, true);
    transfer.accepts = true;
    long connection = ew_transfer_attempt(&transfer, take, &accepting);
    if (connection >= 0)
        ew_channel_took_on(transfer.fd, &transfer.status, PC);
    ew_transfer_end(&transfer);
    return (int)ew_result(connection);
}

EW_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length) {
    return accept4(fd, address, length, 0);
}

// --- connect

_Static_assert(SOCK_CLOEXEC == O_CLOEXEC && SOCK_NONBLOCK == O_NONBLOCK, "flags of both");

struct connecting {
    const struct sockaddr *address;
    socklen_t length;
};

// Nobody else of ours runs while the socket is another than the program made it.
static long begin_connection(struct ew_transfer *transfer, const struct connecting *to) {
    long flags = raw3(SYS_fcntl, transfer->fd, F_GETFL, 0);
    if (transfer->waits)
        raw3(SYS_fcntl, transfer->fd, F_SETFL, flags | O_NONBLOCK);
    long error = ew_transfer_call(transfer, SYS_connect, (long)to->address, to->length, 0, 0, 0);
    if (transfer->waits)
        raw3(SYS_fcntl, transfer->fd, F_SETFL, flags);
    return error;
}

// Asked again when it is ready: only then does the socket count as connected.
static long end_connection(struct ew_transfer *transfer, void *argument) {
    long error = begin_connection(transfer, argument);
    return error == -EALREADY || error == -EINPROGRESS ? -EAGAIN : error;
}

// A Unix socket whose queue is full cannot be waited for; there is room when somebody accepts.
static long connect_unix(struct ew_transfer *transfer, const struct connecting *to) {
    long error;
    while ((error = begin_connection(transfer, to)) == -EAGAIN && transfer->waits) {
        ew_wait_elsewhere(EW_NEVER);
        ew_testcancel();
        if (ew_interrupted(false))
            return -EINTR;
    }
    return error;
}

static long connect_to(struct ew_transfer *transfer, const struct connecting *to) {
    long error = connect_unix(transfer, to);
    if (!transfer->waits || (error != -EINPROGRESS && error != -EALREADY))
        return error;
    error = ew_transfer_attempt(transfer, end_connection, (void *)to);
    return error == -EAGAIN && transfer->over ? -EINPROGRESS : error; // the time is over
}

EW_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length) {
    struct ew_transfer transfer;
    ew_transfer_begin(&transfer, fd, POLLOUT, true);
    ew_address_called(address, length);
    ew_channel_put(fd, PC);
    long error = connect_to(&transfer, &(struct connecting){address, length});
    ew_transfer_end(&transfer);
    return (int)ew_result(error);
}
