// SPDX-License-Identifier: Apache-2.0
// write and its kin: a blocking one goes on until all is written, piece by piece.
#include "writing.h"
#include "channels.h"
#include "debts.h"
#include "input.h"
#include "signals.h"
#include "sync.h"
#include "timers.h"
#include "writers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct progress {
    const struct ew_writing *writing;
    size_t total, done;
};

static size_t total_of(const struct iovec *parts, size_t count) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i].iov_len;
    return total;
}

#define PATIENCE 1000 // milliseconds

// Output is taken however long it takes. Of other pipes it is not known whether who reads them is
// one of ours, who has what was written from its recording and may never take it.
static bool is_taken(const struct ew_transfer *transfer) {
    bool output = ew_is_output(&transfer->status);
    return ew_debts_until(transfer->fd, POLLOUT, output ? INT_MAX : PATIENCE);
}

// In a replay too: as much as was taken then.
static void write_again(const struct ew_transfer *transfer, const struct iovec *parts, size_t count,
                        long length) {
    for (size_t i = 0; i < count && length > 0; i++) {
        const char *at = parts[i].iov_base;
        long left = (size_t)length < parts[i].iov_len ? length : (long)parts[i].iov_len;
        length -= left;
        while (left > 0) {
            if (!is_taken(transfer))
                return;
            long piece = left < PIPE_BUF ? left : PIPE_BUF; // for which there is room
            ew_signal_swallowed = SIGPIPE;
            long done = raw3(SYS_write, transfer->fd, (long)at, piece);
            ew_signal_swallowed = 0;
            if (done == -EPIPE)
                ew_signal_forget(SIGPIPE);
            if (done < 0 && done != -EAGAIN && done != -EINTR)
                return;
            at += done > 0 ? done : 0;
            left -= done > 0 ? done : 0;
        }
    }
}

// A write that is not made in a replay raises no signal there; so in no run does the kernel.
static long without_signal(const struct ew_transfer *transfer, const struct iovec *parts,
                           size_t count) {
    ew_signal_swallowed = SIGPIPE;
    long result = ew_transfer_call(transfer, SYS_writev, (long)parts, (long)count, 0, 0, 0);
    ew_signal_swallowed = 0;
    if (result == -EPIPE)
        ew_signal_forget(SIGPIPE);
    return result;
}

static long call(const struct ew_transfer *transfer, const struct ew_writing *writing,
                 const struct iovec *parts, size_t count, bool first) {
    if (!writing->message && !ew_transfer_is(transfer, S_IFSOCK))
        return without_signal(transfer, parts, count);
    struct msghdr message = {0};
    if (writing->message && first)
        message = *writing->message;
    message.msg_iov = (struct iovec *)parts;
    message.msg_iovlen = count;
    int flags = writing->flags | MSG_NOSIGNAL | (transfer->waits ? MSG_DONTWAIT : 0);
    return ew_transfer_call(transfer, SYS_sendmsg, (long)&message, flags, 0, 0, 0);
}

// How much may be written at once without blocking: a pipe that is ready has room for PIPE_BUF.
static size_t room_in(const struct ew_transfer *transfer) {
    int used = 0;
    if (!transfer->waits || ew_transfer_is(transfer, S_IFSOCK) ||
        (transfer->outside && ew_replaying))
        return SIZE_MAX;
    if (!ew_transfer_is(transfer, S_IFIFO) ||
        raw3(SYS_ioctl, transfer->fd, FIONREAD, (long)&used) < 0 || used)
        return PIPE_BUF;
    long size = raw3(SYS_fcntl, transfer->fd, F_GETPIPE_SZ, 0);
    return size > 0 ? (size_t)size : PIPE_BUF;
}

#define PIECES 64

static bool takes_no_data(const struct ew_transfer *transfer) {
    return ew_transfer_is(transfer, 0) && ew_is_timerfd(transfer->fd);
}

// What goes out together is one call: messages, and what a pipe takes whole.
static long attempt(struct ew_transfer *transfer, void *argument) {
    struct progress *progress = argument;
    const struct ew_writing *writing = progress->writing;
    const struct iovec *parts = writing->parts;
    size_t count = writing->count, room = room_in(transfer);
    struct iovec window[PIECES];
    if (takes_no_data(transfer))
        return -EINVAL;
    if (progress->done || progress->total > room) {
        count = ew_window(parts, count, progress->done, room, window, PIECES);
        parts = window;
    }
    if (transfer->output)
        ew_input_heard(SYS_write, transfer->fd);
    long done = call(transfer, writing, parts, count, !progress->done);
    if (transfer->outside && ew_replaying && done > 0 &&
        (ew_is_output(&transfer->status) || ew_was_made(&transfer->status)))
        write_again(transfer, parts, count, done);
    if (transfer->output && ew_replaying && done == -EPIPE)
        return (long)total_of(parts, count); // who read it then may have gone already
    return done;
}

static long write_all(struct ew_transfer *transfer, struct progress *progress) {
    for (;;) {
        long done = ew_transfer_attempt(transfer, attempt, progress);
        if (done == -EINTR && transfer->output)
            continue;
        if (done < 0)
            return progress->done ? (long)progress->done : done;
        progress->done += (size_t)done;
        if (!(transfer->waits || transfer->output) || done == 0 ||
            progress->done >= progress->total)
            return (long)progress->done;
        if (!transfer->outside)
            ew_look_within(); // who reads can begin
    }
}

static void tell_broken(int flags) {
    if (flags & MSG_NOSIGNAL || !ew_running)
        return;
    ew_signal_of_call(SIGPIPE);
}

static void touch_lists(const struct ew_writing *writing) {
    if (writing->message)
        ew_touch(EW_OP_LOAD, writing->message, sizeof *writing->message, writing->pc);
    ew_touch_parts(writing->parts, writing->count, writing->pc);
}

long ew_write(int fd, const struct ew_writing *writing) {
    struct ew_transfer transfer;
    struct progress progress = {writing, total_of(writing->parts, writing->count), 0};
    bool may_wait = !(writing->flags & MSG_DONTWAIT) && (progress.total || writing->message);
    ew_transfer_begin(&transfer, fd, POLLOUT, may_wait);
    transfer.pc = writing->pc;
    if (writing->listed)
        touch_lists(writing);
    if (transfer.waits)
        ew_channel_put_on(fd, &transfer.status,
                          writing->pc); // others may take the first part meanwhile
    long done = write_all(&transfer, &progress);
    ew_transfer_end(&transfer);
    ew_transferred(EW_OP_LOAD, writing->parts, writing->count, done, writing->pc);
    if (ew_running && done > 0)
        ew_writers_wrote(ew_output_of(&transfer.status), writing->parts, writing->count,
                         (size_t)done);
    if (done >= 0)
        ew_channel_put_on(fd, &transfer.status, writing->pc);
    if (done == -EPIPE)
        tell_broken(writing->flags);
    return done;
}

EW_EXPORT ssize_t write(int fd, const void *buffer, size_t size) {
    const struct iovec part = {(void *)buffer, size};
    return ew_result(ew_write(fd, &(struct ew_writing){&part, 1, NULL, 0, PC}));
}

ssize_t ew_write_for_stream(int fd, const void *data, size_t size) {
    const struct iovec part = {(void *)data, size};
    return ew_result(ew_write(fd, &(struct ew_writing){&part, 1, NULL, 0, NULL}));
}

EW_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (count < 0 || count > IOV_MAX)
        return ew_result(-EINVAL);
    return ew_result(ew_write(fd, &(struct ew_writing){parts, (size_t)count, NULL, 0, PC, true}));
}

EW_EXPORT int eventfd_write(int fd, eventfd_t value) {
    return write(fd, &value, sizeof value) == sizeof value ? 0 : -1;
}

// --- at an offset: only files have one, and they are always ready

struct at_offset {
    long number;
    const void *data; // bytes, or parts
    size_t size;
    off_t offset;
    int flags;
    const void *pc;
};

static long write_at(struct ew_transfer *transfer, void *argument) {
    const struct at_offset *at = argument;
    if (at->number != SYS_pwrite64)
        ew_touch_parts(at->data, at->size, at->pc);
    return ew_transfer_call(transfer, at->number, (long)at->data, (long)at->size, at->offset, 0,
                            at->flags);
}

static ssize_t run_at(int fd, struct at_offset *at) {
    const struct iovec whole = {(void *)at->data, at->size};
    bool one = at->number == SYS_pwrite64;
    long done = ew_transfer(fd, POLLOUT, !(at->flags & RWF_NOWAIT), write_at, at);
    ew_transferred(EW_OP_LOAD, one ? &whole : at->data, one ? 1 : at->size, done, at->pc);
    return ew_result(done);
}

EW_EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    return run_at(fd, &(struct at_offset){SYS_pwrite64, data, size, offset, 0, PC});
}

EW_EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return pwrite64(fd, data, size, offset);
}

EW_EXPORT ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t offset,
                              int flags) {
    if (offset == -1 && !flags)
        return writev(fd, parts, count);
    return run_at(fd, &(struct at_offset){SYS_pwritev2, parts, (size_t)count, offset, flags, PC});
}

EW_EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    return pwritev64v2(fd, parts, count, offset, flags);
}

EW_EXPORT ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    return run_at(fd, &(struct at_offset){SYS_pwritev, parts, (size_t)count, offset, 0, PC});
}

EW_EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return pwritev64(fd, parts, count, offset);
}
