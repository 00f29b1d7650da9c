// SPDX-License-Identifier: Apache-2.0
// Looks, waits and calls.
#include "transfer.h"
#include "channels.h"
#include "connections.h"
#include "debts.h"
#include "input.h"
#include "libc.h"
#include "polling.h"
#include "threads.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

void ew_transfer_begin(struct ew_transfer *transfer, int fd, short events, bool may_wait) {
    *transfer = (struct ew_transfer){.fd = fd, .events = events, .deadline = EW_NEVER};
    if (!ew_running)
        return;
    ew_testcancel();
    ew_point_asking(fd);
    ew_release_held(); // of a call that a handler jumped out of
    ew_self->life.interrupted = EW_UNDISTURBED;
    transfer->outside = ew_look_where(fd, &transfer->status);
    transfer->waits = may_wait && !ew_transfer_is(transfer, S_IFREG) && ew_descriptor_blocks(fd);
    transfer->output = transfer->waits && events == POLLOUT && ew_is_output(&transfer->status);
    if (transfer->output)
        transfer->outside = transfer->waits = false;
}

// --- waiting

// How long a socket wants to be waited for. In a replay too it was told: see setsockopt.
static void set_deadline(struct ew_transfer *transfer) {
    struct timeval limit = {0};
    socklen_t length = sizeof limit;
    if (transfer->deadline != EW_NEVER || !ew_transfer_is(transfer, S_IFSOCK))
        return;
    raw6(SYS_getsockopt, transfer->fd, SOL_SOCKET,
         transfer->events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO, (long)&limit, (long)&length, 0);
    if (limit.tv_sec || limit.tv_usec)
        transfer->deadline = ew_deadline_in(limit.tv_sec * EW_SECOND + limit.tv_usec * 1000);
}

static enum ew_woken wait_once(struct ew_transfer *transfer) {
    struct pollfd one = {transfer->fd, transfer->events, 0};
    set_deadline(transfer);
    ew_channel_wanted(transfer->fd, &transfer->status, transfer->pc);
    enum ew_woken woken =
        (transfer->outside ? ew_wait_outside : ew_wait_within)(&one, 1, transfer->deadline);
    ew_wants(0, 0, NULL, 0, NULL);
    transfer->fd = one.fd; // unless the program has closed it
    ew_testcancel();
    return woken;
}

static bool is_ready(const struct ew_transfer *transfer) {
    struct pollfd one = {transfer->fd, transfer->events, 0};
    return ew_look_at(&one, 1, transfer->outside) != 0;
}

// Of a socket that listens only connections come, of any other only data.
static bool is_mistaken(const struct ew_transfer *transfer) {
    int listens = 0;
    socklen_t length = sizeof listens;
    if (!ew_transfer_is(transfer, S_IFSOCK) || !(transfer->events & POLLIN))
        return false;
    long error = ew_transfer_call(transfer, SYS_getsockopt, SOL_SOCKET, SO_ACCEPTCONN,
                                  (long)&listens, (long)&length, 0);
    if (transfer->outside && error == 0)
        ew_input(EW_INPUT_DATA, &listens, sizeof listens, sizeof listens);
    return error == 0 && !listens == transfer->accepts;
}

// Regular files are always ready; and so is a mistake, which the kernel tells.
static long await(struct ew_transfer *transfer) {
    while (!is_ready(transfer) && !is_mistaken(transfer)) {
        bool late = wait_once(transfer) == EW_TIMED_OUT;
        transfer->over = late || ew_interrupted(transfer->deadline != EW_NEVER);
        if (transfer->over)
            return late ? -EAGAIN : -EINTR;
    }
    return 0;
}

long ew_transfer_attempt(struct ew_transfer *transfer, ew_attempt *attempt, void *argument) {
    for (;;) {
        long error = transfer->waits ? await(transfer) : 0;
        long result = error ? error : attempt(transfer, argument);
        if (result != -EAGAIN || !transfer->waits || transfer->over)
            return result;
    }
}

void ew_transfer_end(const struct ew_transfer *transfer) {
    if (!ew_running)
        return;
    ew_release_held();
    if (!transfer->outside)
        ew_look_within();
}

long ew_transfer(int fd, short events, bool may_wait, ew_attempt *attempt, void *argument) {
    struct ew_transfer transfer;
    ew_transfer_begin(&transfer, fd, events, may_wait);
    long result = ew_transfer_attempt(&transfer, attempt, argument);
    ew_transfer_end(&transfer);
    return result;
}

// --- calling

long ew_transfer_call(const struct ew_transfer *transfer, long number, long b, long c, long d,
                      long e, long f) {
    if (!transfer->outside)
        return raw6(number, transfer->fd, b, c, d, e, f);
    long result = ew_input_call_on(&transfer->status, number, transfer->fd, b, c, d, e, f);
    ew_pace();
    return result;
}

void ew_received(const struct ew_transfer *transfer, const struct iovec *parts, size_t count,
                 long length) {
    if (transfer->outside && ew_replaying && length > 0)
        ew_debt(transfer->fd, &transfer->status, length);
    for (size_t i = 0; transfer->outside && i < count && length > 0; i++) {
        size_t size = (size_t)length < parts[i].iov_len ? (size_t)length : parts[i].iov_len;
        ew_input(EW_INPUT_DATA, parts[i].iov_base, size, parts[i].iov_len);
        length -= (long)size;
    }
}

void ew_transferred(unsigned op, const struct iovec *parts, size_t count, long length,
                    const void *pc) {
    for (size_t i = 0; UNLIKELY(ew_watched) && pc && i < count && length > 0; i++) {
        size_t size = (size_t)length < parts[i].iov_len ? (size_t)length : parts[i].iov_len;
        ew_touch(op, parts[i].iov_base, size, pc);
        length -= (long)size;
    }
}

void ew_received_length(const struct ew_transfer *transfer, void *buffer, size_t room, void *length,
                        size_t width) {
    uint64_t size = 0;
    if (!transfer->outside || !buffer)
        return;
    ew_input(EW_INPUT_DATA, length, width, width);
    memcpy(&size, length, width);
    ew_input(EW_INPUT_DATA, buffer, size < room ? size : room, room);
}

size_t ew_window(const struct iovec *parts, size_t count, size_t from, size_t limit,
                 struct iovec *window, size_t room) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < room && limit; i++) {
        if (from >= parts[i].iov_len) {
            from -= parts[i].iov_len;
            continue;
        }
        size_t length = parts[i].iov_len - from;
        length = length < limit ? length : limit;
        window[used++] = (struct iovec){(char *)parts[i].iov_base + from, length};
        limit -= length;
        from = 0;
    }
    return used;
}
