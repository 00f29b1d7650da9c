// SPDX-License-Identifier: Apache-2.0
// One call on a descriptor that may have to wait.
//
// It is the system call itself, made only when it will not block the carrier: the descriptor is
// looked at first, and if it is not ready its thread waits for it. What comes from outside goes
// through the input; in a replay nothing is asked of the outside, and nothing is sent to it.
#ifndef EITHERWAY_TRANSFER_H
#define EITHERWAY_TRANSFER_H

#include "descriptors.h"
#include "libc.h"

#include <limits.h>
#include <sys/uio.h>

struct ew_transfer {
    int fd;           // to make the call on: the program may have closed its own meanwhile
    short events;     // that it needs
    bool waits;       // it is to wait until it can be made, as the program would see it
    bool outside;     // its result comes from outside
    bool output;      // the program's own, which waits only for itself
    bool accepts;     // connections, and no data
    bool over;        // the time is, or a handler has run: no more attempts
    int64_t deadline; // of SO_RCVTIMEO or SO_SNDTIMEO
    const void *pc;   // of the program's call; NULL: none is known
    struct stat status;
};

// Makes the call, which must not block; returns what the kernel returns. -EAGAIN: not ready yet.
typedef long ew_attempt(struct ew_transfer *transfer, void *argument);

// Attempts until it is done; returns its result. A cancellation and decision point.
long ew_transfer(int fd, short events, bool may_wait, ew_attempt *attempt, void *argument);

// The same in parts, for those that need more than one attempt.
void ew_transfer_begin(struct ew_transfer *transfer, int fd, short events, bool may_wait);
long ew_transfer_attempt(struct ew_transfer *transfer, ew_attempt *attempt, void *argument);
void ew_transfer_end(const struct ew_transfer *transfer);

// The system call itself, or what it did in the recording.
long ew_transfer_call(const struct ew_transfer *transfer, long number, long b, long c, long d,
                      long e, long f);

// The bytes that a call has put into these buffers, one after the other.
void ew_received(const struct ew_transfer *transfer, const struct iovec *parts, size_t count,
                 long length);
// The call is over, and has read (EW_OP_LOAD) or written so many bytes of the program's memory
// there; `pc` NULL: it was not the program's.
void ew_transferred(unsigned op, const struct iovec *parts, size_t count, long length,
                    const void *pc);
// Which parts: the program's own list of them is read when the call begins, before it waits.
static inline void ew_touch_parts(const struct iovec *parts, size_t count, const void *pc) {
    if (UNLIKELY(ew_watched) && count <= IOV_MAX && ew_is_readable(parts, count * sizeof *parts))
        ew_touch(EW_OP_LOAD, parts, count * sizeof *parts, pc);
}
// read and write for libc's streams, which lock what they read into.
ssize_t ew_read_for_stream(int fd, void *buffer, size_t size);
ssize_t ew_write_for_stream(int fd, const void *data, size_t size);
// A buffer whose length the kernel sets: a sender's address, control data. `room` is what there
// was.
void ew_received_length(const struct ew_transfer *transfer, void *buffer, size_t room, void *length,
                        size_t width);

static inline bool ew_transfer_is(const struct ew_transfer *transfer, mode_t type) {
    return (transfer->status.st_mode & S_IFMT) == type;
}

// A part of buffers: `from` bytes in, at most `limit` bytes and `room` pieces. Returns how many.
size_t ew_window(const struct iovec *parts, size_t count, size_t from, size_t limit,
                 struct iovec *window, size_t room);

#endif
