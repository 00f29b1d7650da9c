// SPDX-License-Identifier: Apache-2.0
// read and its kin.
#include "channels.h"
#include "signals.h"
#include "sync.h"
#include "transfer.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

// What preadv2 takes, of which the others are special cases.
struct reading {
    long number; // of the system call
    const struct iovec *parts;
    size_t count;
    off_t offset; // -1: where the descriptor stands
    int flags;
    const void *pc; // NULL: not the program's
};

static bool takes_one(const struct reading *reading) {
    return reading->number == SYS_read || reading->number == SYS_pread64;
}

static long attempt(struct ew_transfer *transfer, void *argument) {
    const struct reading *reading = argument;
    const struct iovec *first = reading->parts;
    bool one = takes_one(reading);
    long got = ew_transfer_call(
        transfer, reading->number, one ? (long)first->iov_base : (long)first,
        one ? (long)first->iov_len : (long)reading->count, reading->offset, 0, reading->flags);
    ew_received(transfer, reading->parts, reading->count, got);
    return got;
}

// What asks for nothing is told at once whether it could have.
static bool may_wait(const struct reading *reading) {
    bool empty = reading->number == SYS_read && reading->parts->iov_len == 0;
    return !empty && !(reading->flags & RWF_NOWAIT);
}

static ssize_t run(int fd, struct reading *reading) {
    struct ew_transfer transfer;
    ew_transfer_begin(&transfer, fd, POLLIN, may_wait(reading));
    transfer.pc = reading->pc;
    if (!takes_one(reading))
        ew_touch_parts(reading->parts, reading->count, reading->pc);
    long got = ew_transfer_attempt(&transfer, attempt, reading);
    if (got >= 0)
        ew_channel_took_on(transfer.fd, &transfer.status, reading->pc);
    if (got > 0 && reading->count == 1 && UNLIKELY(ew_watched))
        ew_signals_read(fd, reading->parts->iov_base, got, reading->pc);
    ew_transfer_end(&transfer);
    ew_transferred(EW_OP_STORE, reading->parts, reading->count, got, reading->pc);
    return ew_result(got);
}

EW_EXPORT ssize_t read(int fd, void *buffer, size_t size) {
    return run(fd, &(struct reading){SYS_read, &(struct iovec){buffer, size}, 1, 0, 0, PC});
}

EW_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count) {
    return run(fd, &(struct reading){SYS_readv, parts, (size_t)count, 0, 0, PC});
}

EW_EXPORT ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset) {
    return run(fd, &(struct reading){SYS_pread64, &(struct iovec){buffer, size}, 1, offset, 0, PC});
}

EW_EXPORT ssize_t pread(int fd, void *buffer, size_t size, off_t offset) {
    return pread64(fd, buffer, size, offset);
}

EW_EXPORT ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset,
                             int flags) {
    return run(fd, &(struct reading){SYS_preadv2, parts, (size_t)count, offset, flags, PC});
}

EW_EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags) {
    return preadv64v2(fd, parts, count, offset, flags);
}

EW_EXPORT ssize_t preadv64(int fd, const struct iovec *parts, int count, off64_t offset) {
    return run(fd, &(struct reading){SYS_preadv, parts, (size_t)count, offset, 0, PC});
}

EW_EXPORT ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    return preadv64(fd, parts, count, offset);
}

ssize_t ew_read_for_stream(int fd, void *buffer, size_t size) {
    return run(fd, &(struct reading){SYS_read, &(struct iovec){buffer, size}, 1, 0, 0, NULL});
}

EW_EXPORT int eventfd_read(int fd, eventfd_t *value) {
    return read(fd, value, sizeof *value) == sizeof *value ? 0 : -1;
}

// What _FORTIFY_SOURCE calls instead, with the size of the buffer behind.
_Noreturn void __chk_fail(void);

EW_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room) {
    if (size > room)
        __chk_fail();
    return read(fd, buffer, size);
}

EW_EXPORT ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room) {
    if (size > room)
        __chk_fail();
    return pread64(fd, buffer, size, offset);
}

EW_EXPORT ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t offset, size_t room) {
    return __pread64_chk(fd, buffer, size, offset, room);
}
