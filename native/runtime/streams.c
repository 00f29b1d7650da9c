// SPDX-License-Identifier: Apache-2.0
// What libc calls below its streams: reading from a pipe, a socket or a terminal is our own read,
// wherever in scanf or printf it happens.
//
// libc reaches its functions through tables, which are patched once, at the start. Files are left
// to libc: it reads some while it holds locks of its own (time zones, users), and nobody may run
// then.
#include "channels.h"
#include "filelocks.h"
#include "input.h"
#include "signals.h"
#include "stream.h"
#include "transfer.h"
#include "writers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef ssize_t reader(FILE *, void *, ssize_t);
typedef ssize_t writer(FILE *, const void *, ssize_t);
typedef int closer(FILE *);
static reader *libc_read;
static writer *libc_write;
static closer *libc_close;
static bool leaving; // the program is at its very end: libc flushes, holding the list of streams

static void idle(FILE **stream) {
    ew_stream_idle(*stream);
}

// Until the end of the block, also when the thread is cancelled in it: compiled with -fexceptions.
#define BUSY(stream)                                                                               \
    __attribute__((cleanup(idle))) FILE *busy = (stream);                                          \
    ew_stream_busy(busy)

enum where { FILES, TOLD, ELSEWHERE }; // TOLD: files in which the kernel tells something

// `output`: NULL when it is read; else it becomes the number of the program's output, or 0.
static enum where where(const FILE *stream, unsigned *output) {
    struct stat status;
    if (!ew_running || leaving)
        return FILES;
    bool outside = ew_look_where(stream->_fileno, &status);
    if (output && (*output = ew_output_of(&status)))
        return FILES;
    switch (status.st_mode & S_IFMT) {
    case S_IFREG:
        return outside ? TOLD : FILES;
    case S_IFDIR:
    case S_IFBLK:
        return FILES;
    default:
        return ELSEWHERE;
    }
}

static ssize_t told(FILE *stream, void *buffer, ssize_t size) {
    long got = ew_input_call(SYS_read, stream->_fileno, (long)buffer, size, 0, 0, 0);
    if (got > 0)
        ew_input(EW_INPUT_DATA, buffer, (size_t)got, (size_t)size);
    return ew_result(got);
}

static ssize_t stream_read(FILE *stream, void *buffer, ssize_t size) {
    enum where leads = where(stream, NULL);
    if (leads != ELSEWHERE)
        return leads == TOLD ? told(stream, buffer, size) : libc_read(stream, buffer, size);
    BUSY(stream);
    return ew_read_for_stream(stream->_fileno, buffer, (size_t)size);
}

// In a replay who read it then may have gone already, and that is no error.
static ssize_t write_again(FILE *stream, const void *data, ssize_t size) {
    int flags = stream->_flags;
    ew_signal_swallowed = SIGPIPE;
    ssize_t done = libc_write(stream, data, size);
    ew_signal_swallowed = 0;
    if (done == size || errno != EPIPE)
        return done;
    ew_signal_forget(SIGPIPE);
    stream->_flags = flags;
    return size;
}

// Byte for byte what libc's does, with our own write.
static ssize_t stream_write(FILE *stream, const void *data, ssize_t size) {
    bool runs = ew_running && !leaving;
    unsigned output = 0;
    if (runs)
        ew_testcancel();
    if (where(stream, &output) != ELSEWHERE) {
        if (runs)
            ew_input_heard(SYS_write, stream->_fileno);
        ssize_t done = (ew_replaying ? write_again : libc_write)(stream, data, size);
        if (runs && done > 0)
            ew_writers_flushed(output, stream, data, (size_t)done);
        return done;
    }
    BUSY(stream);
    ssize_t done = 0;
    while (done < size) {
        ssize_t count =
            ew_write_for_stream(stream->_fileno, (const char *)data + done, (size_t)(size - done));
        if (count < 0) {
            stream->_flags |= _IO_ERR_SEEN;
            break;
        }
        done += count;
    }
    if (stream->_offset >= 0)
        stream->_offset += done;
    return done;
}

static int stream_close(FILE *stream) {
    if (!ew_running)
        return libc_close(stream);
    if (ew_talks && ew_is_outside(stream->_fileno))
        ew_input_heard(SYS_close, stream->_fileno);
    ew_channel_put(stream->_fileno, NULL);
    ew_file_locks_closing(stream->_fileno, PC);
    ew_numbers_closed((unsigned)stream->_fileno, (unsigned)stream->_fileno);
    ew_closing((unsigned)stream->_fileno, (unsigned)stream->_fileno);
    int result = libc_close(stream);
    ew_look_within();
    return result;
}

// --- all streams at once
//
// libc's own would wait for each stream's lock with the carrier, and hold its list meanwhile.

static FILE **list;

static FILE *first_stream(void) {
    return list ? *list : NULL;
}

static bool exists(const FILE *stream) {
    const FILE *at = first_stream();
    while (at && at != stream)
        at = at->_chain;
    return at != NULL;
}

static bool has_output(const FILE *stream) {
    wchar_t *const *wide = (wchar_t *const *)stream->_wide_data; // read: 3, write base, write ptr
    if (stream->_mode > 0)
        return wide[4] > wide[3];
    return stream->_IO_write_ptr > stream->_IO_write_base;
}

static size_t count_streams(void) {
    size_t count = 0;
    for (const FILE *at = first_stream(); at; at = at->_chain)
        count++;
    return count;
}

// Others run while one is waited for, and may close it.
static bool flush(FILE *stream) {
    if (exists(stream))
        ew_stream_await(stream);
    return !exists(stream) || !has_output(stream) || fflush(stream) == 0;
}

static int each_stream(bool (*flush)(FILE *)) {
    FILE *few[32];
    size_t count = count_streams(), size = count * sizeof(FILE *);
    bool many = size > sizeof few;
    FILE **streams = many ? ew_pages(size) : few;
    FILE *at = first_stream();
    bool all = true;
    for (size_t i = 0; i < count; i++, at = at->_chain)
        streams[i] = at;
    for (size_t i = 0; i < count; i++)
        all &= flush(streams[i]);
    if (many)
        raw3(SYS_munmap, (long)streams, (long)size, 0);
    return all ? 0 : EOF;
}

int ew_flush_all(void) {
    return each_stream(flush);
}

// --- the tables

// glibc's struct _IO_jump_t, which is part of what programs were compiled against.
enum { READ = 14, WRITE = 15, CLOSE = 17, ENTRIES = 21 };

static bool is_known(void **table) {
    return table && table[READ] == (void *)libc_read && table[WRITE] == (void *)libc_write &&
           table[CLOSE] == (void *)libc_close;
}

static bool set_access(void **table, int access) {
    uintptr_t from = (uintptr_t)table & ~4095ul;
    uintptr_t to = ((uintptr_t)(table + ENTRIES) + 4095) & ~4095ul;
    return raw3(SYS_mprotect, (long)from, (long)(to - from), access) == 0;
}

static bool patch(const char *name) {
    void **table = dlsym(RTLD_NEXT, name);
    if (!is_known(table) || !set_access(table, PROT_READ | PROT_WRITE))
        return false;
    table[READ] = (void *)stream_read;
    table[WRITE] = (void *)stream_write;
    table[CLOSE] = (void *)stream_close;
    set_access(table, PROT_READ);
    return true;
}

static int (*libc_flush)(FILE *);

// What somebody holds is libc's to write, which at the end asks nobody.
static bool flush_if_free(FILE *stream) {
    return !exists(stream) || !has_output(stream) || !ew_stream_is_free(stream) ||
           libc_flush(stream) == 0;
}

// Registered before everything else, so it runs after everything else. What is left to do is to end
// all threads: those that still run may go on before that, in what is destroyed by now.
static void at_the_end(void) {
    ew_point(EW_WHY_SYNC);
    each_stream(flush_if_free);
    leaving = true;
}

void ew_streams_take_over(void) {
    libc_read = (reader *)dlsym(RTLD_NEXT, "_IO_file_read");
    libc_write = (writer *)dlsym(RTLD_NEXT, "_IO_file_write");
    libc_close = (closer *)dlsym(RTLD_NEXT, "_IO_file_close");
    list = dlsym(RTLD_NEXT, "_IO_list_all");
    libc_flush = (int (*)(FILE *))ew_libc_function("fflush");
    if (!patch("_IO_file_jumps") || !patch("_IO_wfile_jumps"))
        ew_report("stdio", "this libc is not known: streams that wait stop all threads");
    atexit(at_the_end);
}
