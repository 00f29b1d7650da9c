// SPDX-License-Identifier: Apache-2.0
// sendfile, splice and their kin: what the kernel moves without the program's memory goes through
// ours when one side may wait, because what comes from outside has to be noted.
#include "transfer.h"
#include "writing.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <unistd.h>

static mode_t kind_of(int fd) {
    struct stat status;
    ew_look_where(fd, &status);
    return status.st_mode & S_IFMT;
}

static bool is_file(mode_t kind) {
    return kind == S_IFREG || kind == S_IFBLK;
}

// All of it, also on a descriptor that does not wait: the bytes are taken already.
static long write_rest(int fd, const char *from, size_t size) {
    size_t done = 0;
    while (done < size) {
        struct iovec part = {(void *)(from + done), size - done};
        long written = ew_write(fd, &(struct ew_writing){&part, 1, NULL, 0});
        if (written == -EAGAIN)
            poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
        else if (written < 0)
            return done ? (long)done : written;
        else
            done += (size_t)written;
    }
    return (long)done;
}

// --- sendfile

#define PIECE 65536

struct file {
    int fd;
    off_t at;
};

static long send_pieces(int out, struct file *in, size_t count, char *room) {
    size_t done = 0;
    while (done < count) {
        size_t piece = count - done < PIECE ? count - done : PIECE;
        long got = raw6(SYS_pread64, in->fd, (long)room, (long)piece, in->at, 0, 0);
        if (got <= 0)
            return done ? (long)done : got;
        struct iovec part = {room, (size_t)got};
        long sent = ew_write(out, &(struct ew_writing){&part, 1, NULL, 0});
        if (sent < 0)
            return done ? (long)done : sent;
        in->at += sent;
        done += (size_t)sent;
        if (sent < got)
            break; // it does not wait
    }
    return (long)done;
}

static long send_file(int out, int in, off_t *offset, size_t count) {
    if (!is_file(kind_of(in)) || is_file(kind_of(out)) || !kind_of(out))
        return raw6(SYS_sendfile, out, in, (long)offset, (long)count, 0, 0);
    struct file file = {in, offset ? *offset : raw3(SYS_lseek, in, 0, SEEK_CUR)};
    char *room = ew_pages(PIECE);
    long sent = send_pieces(out, &file, count, room);
    raw3(SYS_munmap, (long)room, PIECE, 0);
    if (offset)
        *offset = file.at;
    else
        raw3(SYS_lseek, in, file.at, SEEK_SET);
    return sent;
}

EW_EXPORT ssize_t sendfile64(int out, int in, off64_t *offset, size_t count) {
    ew_point(EW_WHY_SYNC);
    return ew_result(send_file(out, in, offset, count));
}

EW_EXPORT ssize_t sendfile(int out, int in, off_t *offset, size_t count) {
    return sendfile64(out, in, offset, count);
}

EW_EXPORT ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count,
                                  unsigned flags) {
    ew_point(EW_WHY_SYNC);
    return ew_result(
        raw6(SYS_copy_file_range, in, (long)from, out, (long)to, (long)count, (long)flags));
}

// --- splice: one side is a pipe. Of what a pipe that is ready takes at once

static bool is_refused(mode_t in, off64_t *from, mode_t out, off64_t *to) {
    return (in != S_IFIFO && out != S_IFIFO) || (in == S_IFIFO && from) || (out == S_IFIFO && to);
}

// Whether a call that does not wait can be made now; if it waits, when it can.
static bool is_ready(int fd, short events, bool waits) {
    struct pollfd one = {fd, events, 0};
    return poll(&one, 1, waits ? -1 : 0) == 1;
}

static bool is_patient(int fd, unsigned flags) {
    long own = raw3(SYS_fcntl, fd, F_GETFL, 0);
    return !(flags & SPLICE_F_NONBLOCK) && own >= 0 && !(own & O_NONBLOCK);
}

static ssize_t move(int in, off64_t *from, int out, off64_t *to, size_t count) {
    char piece[PIPE_BUF];
    size_t size = count < sizeof piece ? count : sizeof piece;
    ssize_t got = from ? pread64(in, piece, size, *from) : read(in, piece, size);
    if (got <= 0)
        return got;
    ssize_t put = to ? pwrite64(out, piece, (size_t)got, *to)
                     : ew_result(write_rest(out, piece, (size_t)got));
    if (put > 0 && from)
        *from += put;
    if (put > 0 && to)
        *to += put;
    return put;
}

EW_EXPORT ssize_t splice(int in, off64_t *from, int out, off64_t *to, size_t count,
                         unsigned flags) {
    ew_point(EW_WHY_SYNC);
    if (count == 0 || is_refused(kind_of(in), from, kind_of(out), to))
        return ew_result(raw6(SYS_splice, in, (long)from, out, (long)to, (long)count,
                              SPLICE_F_NONBLOCK | flags));
    if (!is_ready(out, POLLOUT, is_patient(out, flags)) ||
        !is_ready(in, POLLIN, is_patient(in, flags)))
        return ew_result(-EAGAIN);
    return move(in, from, out, to, count);
}

EW_EXPORT ssize_t tee(int in, int out, size_t count, unsigned flags) {
    ew_point(EW_WHY_SYNC);
    if (ew_is_outside(in))
        ew_report("tee", "what comes from outside through it is not recorded");
    if (kind_of(in) == S_IFIFO && kind_of(out) == S_IFIFO && count)
        if (!is_ready(out, POLLOUT, is_patient(out, flags)) ||
            !is_ready(in, POLLIN, is_patient(in, flags)))
            return ew_result(-EAGAIN);
    long copied = raw6(SYS_tee, in, out, (long)count, flags | SPLICE_F_NONBLOCK, 0, 0);
    ew_look_within();
    return ew_result(copied);
}

// Pages that are given to a pipe are copied: whoever changes them later changes nothing in it.
EW_EXPORT ssize_t vmsplice(int fd, const struct iovec *parts, size_t count, unsigned flags) {
    ew_testcancel();
    if (kind_of(fd) != S_IFIFO || count == 0 || count > IOV_MAX)
        return ew_result(raw6(SYS_vmsplice, fd, (long)parts, (long)count, flags, 0, 0));
    bool reads = (raw3(SYS_fcntl, fd, F_GETFL, 0) & O_ACCMODE) == O_RDONLY;
    if (!is_ready(fd, reads ? POLLIN : POLLOUT, is_patient(fd, flags)))
        return ew_result(-EAGAIN);
    if (reads)
        return readv(fd, parts, (int)count);
    if (is_patient(fd, flags))
        return writev(fd, parts, (int)count);
    struct iovec window[64];
    return writev(fd, window, (int)ew_window(parts, count, 0, PIPE_BUF, window, 64));
}
