// SPDX-License-Identifier: Apache-2.0
// open: a FIFO waits for its other end, and other threads run meanwhile.
#include "input.h"
#include "refusals.h"
#include "stream.h"
#include "sync.h"
#include "threads.h"
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

struct opening {
    int folder;
    const char *path;
    int flags;
    mode_t mode;
};

static long open_now(const struct opening *opening, int flags) {
    return raw6(SYS_openat, opening->folder, (long)opening->path, opening->flags | flags,
                opening->mode, 0, 0);
}

// One that would wait, as far as that can be known before.
static bool is_fifo(const struct opening *opening) {
    struct stat status;
    int how = opening->flags & O_ACCMODE;
    if (opening->flags & (O_NONBLOCK | O_PATH) || (how != O_RDONLY && how != O_WRONLY))
        return false;
    return raw6(SYS_newfstatat, opening->folder, (long)opening->path, (long)&status, 0, 0, 0) ==
               0 &&
           S_ISFIFO(status.st_mode);
}

// Whether anybody has opened the other end to write: then an empty FIFO is not at its end. Nothing
// is taken out of it to see that.
static bool has_writer(int fd) {
    int ends[2];
    if (raw3(SYS_pipe2, (long)ends, O_CLOEXEC, 0) < 0)
        return true;
    long seen = raw6(SYS_tee, fd, ends[1], 1, 2 /* SPLICE_F_NONBLOCK */, 0, 0);
    raw1(SYS_close, ends[0]);
    raw1(SYS_close, ends[1]);
    return seen != 0;
}

// Opened before the other end is there, or -ENXIO. In a replay the other end never comes: an end of
// our own makes that it can be opened.
static long open_early(const struct opening *opening) {
    long fd = open_now(opening, O_NONBLOCK);
    if (fd != -ENXIO || !ew_replaying)
        return fd;
    long other =
        raw6(SYS_openat, opening->folder, (long)opening->path, O_RDONLY | O_NONBLOCK, 0, 0, 0);
    other = ew_out_of_the_way((int)other);
    fd = open_now(opening, O_NONBLOCK);
    raw1(SYS_close, other);
    return fd;
}

struct attempt {
    const struct opening *opening;
    long fd; // open, with nobody at the other end yet; or an error
};

static bool reads(const struct opening *opening) {
    return (opening->flags & O_ACCMODE) == O_RDONLY;
}

static bool is_met(void *argument) {
    struct attempt *attempt = argument;
    if (attempt->fd == -ENXIO)
        attempt->fd = open_early(attempt->opening);
    if (attempt->fd < 0 || !reads(attempt->opening))
        return attempt->fd != -ENXIO;
    return ew_replaying || has_writer((int)attempt->fd);
}

static long open_fifo(const struct opening *opening) {
    struct attempt attempt = {opening, reads(opening) ? open_early(opening) : -ENXIO};
    ew_point(EW_WHY_SYNC);
    ew_self->life.interrupted = EW_UNDISTURBED;
    while (!ew_try_elsewhere(is_met, &attempt)) {
        ew_wait_elsewhere(EW_NEVER);
        if (ew_cancel_is_due(ew_self) || ew_interrupted(false)) {
            if (attempt.fd >= 0)
                raw1(SYS_close, attempt.fd);
            ew_testcancel();
            return -EINTR;
        }
    }
    if (attempt.fd >= 0)
        raw3(SYS_fcntl, attempt.fd, F_SETFL, opening->flags & ~O_NONBLOCK);
    return attempt.fd;
}

static int run(const struct opening *opening) {
    if (ew_running)
        ew_testcancel();
    long fd = ew_running && is_fifo(opening) ? open_fifo(opening) : open_now(opening, 0);
    ew_refusal_notice((int)-fd);
    return (int)ew_result(fd);
}

static bool makes(int flags) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

EW_EXPORT int openat64(int folder, const char *path, int flags, ...) {
    mode_t mode = 0;
    if (makes(flags)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return run(&(struct opening){folder, path, flags | O_LARGEFILE, mode});
}

EW_EXPORT int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (makes(flags)) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    return openat64(AT_FDCWD, path, flags, mode);
}

EW_ALIAS(openat, openat64);
EW_ALIAS(open, open64);
EW_ALIAS(__open, open64);
EW_ALIAS(__open64, open64);

EW_EXPORT int creat64(const char *path, mode_t mode) {
    return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

EW_ALIAS(creat, creat64);

// What _FORTIFY_SOURCE calls instead when there is no mode, which must not be needed then.
_Noreturn void __chk_fail(void);

EW_EXPORT int __openat64_2(int folder, const char *path, int flags) {
    if (makes(flags))
        __chk_fail();
    return openat64(folder, path, flags);
}

EW_EXPORT int __open64_2(const char *path, int flags) {
    return __openat64_2(AT_FDCWD, path, flags);
}

EW_ALIAS(__openat_2, __openat64_2);
EW_ALIAS(__open_2, __open64_2);

// --- streams

static int flags_of(const char *mode) {
    int how = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    return how | (strchr(mode, 'e') ? O_CLOEXEC : 0) | (*mode == 'a' ? O_APPEND : 0);
}

// libc opens behind our back, so a FIFO is opened first; anything else is libc's to open.
EW_EXPORT FILE *fopen64(const char *path, const char *mode) {
    static FILE *(*libc_fopen)(const char *, const char *);
    struct opening opening = {AT_FDCWD, path, flags_of(mode), 0};
    if (!ew_running || !is_fifo(&opening)) {
        if (!libc_fopen)
            libc_fopen = (FILE * (*)(const char *, const char *)) ew_libc_function("fopen64");
        FILE *opened = libc_fopen(path, mode);
        if (!opened)
            ew_refusal_notice(errno);
        return opened;
    }
    int fd = run(&opening);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, mode);
    if (!stream && fd >= 0)
        raw1(SYS_close, fd);
    return stream;
}

EW_ALIAS(fopen, fopen64);
