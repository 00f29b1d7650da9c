// SPDX-License-Identifier: Apache-2.0
// Streams over pipes, sockets and terminals: other threads run while one of them waits.
//
// The fields of FILE that are used here are those that glibc's own headers compile into programs
// (getc_unlocked), so they cannot change.
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void _IO_doallocbuf(FILE *stream);

// Bits of FILE's _flags that have no name in the headers.
enum {
    UNBUFFERED = 0x2,
    NO_READS = 0x4,
    IN_BACKUP = 0x100,
    LINE_BUFFERED = 0x200,
    PUTTING = 0x800
};

static void unlock(FILE **held) {
    ew_stream_unlock(*held);
}

// Until the end of the block, also when the thread is cancelled in it: compiled with -fexceptions.
#define HOLD(stream)                                                                               \
    __attribute__((cleanup(unlock))) FILE *held = (stream);                                        \
    ew_stream_lock(held)

static bool is_plain(int descriptor) {
    struct stat status;
    long error = raw6(SYS_newfstatat, descriptor, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0);
    return error < 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
           S_ISBLK(status.st_mode);
}

bool ew_stream_is_outside(FILE *stream) {
    return stream->_fileno >= 0 && !is_plain(stream->_fileno);
}

static bool blocks(int descriptor) {
    long flags = raw3(SYS_fcntl, descriptor, F_GETFL, 0);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

// --- reading

static size_t available(const FILE *stream) {
    return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

// As libc does before it reads from a terminal: the prompt is to be seen.
static void show_prompt(const FILE *stream) {
    if (stream->_flags & (LINE_BUFFERED | UNBUFFERED) && stdout->_flags & LINE_BUFFERED)
        fflush(stdout);
}

// What was not read yet goes to the front.
static size_t make_room(FILE *stream) {
    if (!stream->_IO_buf_base)
        _IO_doallocbuf(stream);
    size_t kept = available(stream);
    if (kept)
        memmove(stream->_IO_buf_base, stream->_IO_read_ptr, kept);
    stream->_IO_read_base = stream->_IO_read_ptr = stream->_IO_buf_base;
    stream->_IO_read_end = stream->_IO_buf_base + kept;
    stream->_IO_write_base = stream->_IO_write_ptr = stream->_IO_write_end = stream->_IO_buf_base;
    return (size_t)(stream->_IO_buf_end - stream->_IO_read_end);
}

// One read, by our own function. An error is left for libc to meet and to tell.
static bool read_more(FILE *stream) {
    size_t room = make_room(stream);
    if (!room)
        return false;
    ssize_t count = read(stream->_fileno, stream->_IO_read_end, room);
    if (count == 0)
        stream->_flags |= _IO_EOF_SEEN;
    if (count <= 0)
        return false;
    stream->_IO_read_end += count;
    return true;
}

static bool is_enough(const FILE *stream, size_t needed, int end) {
    return available(stream) >= needed ||
           (end >= 0 && memchr(stream->_IO_read_ptr, end, available(stream)));
}

static bool can_fill(FILE *stream) {
    const int only_libc = NO_READS | IN_BACKUP | PUTTING | _IO_EOF_SEEN;
    return !(stream->_flags & only_libc) && ew_stream_is_outside(stream);
}

bool ew_stream_lacks_line(FILE *stream) {
    return !is_enough(stream, SIZE_MAX, '\n') && can_fill(stream);
}

void ew_stream_fill(FILE *stream, size_t needed, int end) {
    if (is_enough(stream, needed, end) || !can_fill(stream))
        return;
    HOLD(stream); // the others come after us, also while we wait
    show_prompt(stream);
    while (can_fill(stream) && !is_enough(stream, needed, end) && read_more(stream))
        ;
}

void ew_stream_until_readable(FILE *stream) {
    if (available(stream) || !can_fill(stream) || !blocks(stream->_fileno))
        return;
    struct pollfd one = {stream->_fileno, POLLIN, 0};
    show_prompt(stream);
    poll(&one, 1, -1);
}

static size_t take(FILE *stream, char *to, size_t wanted) {
    size_t count = available(stream) < wanted ? available(stream) : wanted;
    memcpy(to, stream->_IO_read_ptr, count);
    stream->_IO_read_ptr += count;
    return count;
}

// Byte for byte what fread does, but that each piece is waited for.
static size_t read_all(FILE *stream, char *to, size_t wanted) {
    size_t done = 0;
    while (done < wanted) {
        ew_stream_fill(stream, 1, -1);
        size_t count = take(stream, to + done, wanted - done);
        if (!count) { // its end, an error, or a state that only libc knows
            int next = getc_unlocked(stream);
            if (next == EOF)
                break;
            to[done] = (char)next;
            count = 1;
        }
        done += count;
    }
    return done;
}

size_t ew_stream_read(void *to, size_t size, size_t count, FILE *stream) {
    if (size == 0 || count == 0)
        return 0;
    HOLD(stream);
    return read_all(stream, to, size * count) / size;
}

// --- writing

// A pipe that is ready has room for a page, and a stream over a pipe has a buffer of one. Less than
// that at a time makes libc write no more than one buffer. (A larger one, given by setvbuf, may
// still block all threads until its reader comes; one in this process then never would.)
#define PIECE 2048

static bool has_room(const FILE *stream) {
    if (stream->_flags & (UNBUFFERED | LINE_BUFFERED))
        return false;
    return !stream->_IO_buf_base || stream->_IO_buf_end - stream->_IO_write_ptr > PIECE / 2;
}

static void until_writable(FILE *stream) {
    struct pollfd one = {stream->_fileno, POLLOUT, 0};
    if (blocks(stream->_fileno))
        poll(&one, 1, -1);
}

void ew_stream_until_writable(FILE *stream) {
    if (!has_room(stream) && ew_stream_is_outside(stream))
        until_writable(stream);
}

void ew_stream_until_flushable(FILE *stream) {
    if (stream->_IO_write_ptr > stream->_IO_write_base && ew_stream_is_outside(stream))
        until_writable(stream);
}

static size_t write_all(FILE *stream, const char *from, size_t wanted) {
    static size_t (*libc_fwrite)(const void *, size_t, size_t, FILE *);
    if (!libc_fwrite)
        libc_fwrite = (size_t (*)(const void *, size_t, size_t, FILE *))ew_libc_function("fwrite");
    size_t done = 0;
    while (done < wanted) {
        size_t piece = wanted - done < PIECE ? wanted - done : PIECE;
        until_writable(stream);
        size_t count = libc_fwrite(from + done, 1, piece, stream);
        done += count;
        if (count < piece)
            break;
    }
    return done;
}

size_t ew_stream_write(const void *from, size_t size, size_t count, FILE *stream) {
    if (size == 0 || count == 0)
        return 0;
    HOLD(stream);
    return write_all(stream, from, size * count) / size;
}
