// SPDX-License-Identifier: Apache-2.0
// Calls that change files and directories by their names: libc's own, but what only the sandbox
// refuses is noticed. See refusals.h.
#include "libc.h"
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

static int noticed(int result) {
    if (result < 0)
        ew_refusal_notice(errno);
    return result;
}

#define CHANGES(name, parameters, ...)                                                             \
    EW_REAL(name);                                                                                 \
    EW_EXPORT int name parameters {                                                                \
        return noticed(REAL(name)(__VA_ARGS__));                                                   \
    }

CHANGES(unlink, (const char *path), path)
CHANGES(unlinkat, (int folder, const char *path, int flags), folder, path, flags)
CHANGES(remove, (const char *path), path)
CHANGES(rmdir, (const char *path), path)
CHANGES(rename, (const char *from, const char *to), from, to)
CHANGES(renameat, (int folder, const char *from, int other, const char *to), folder, from, other,
        to)
CHANGES(renameat2, (int folder, const char *from, int other, const char *to, unsigned flags),
        folder, from, other, to, flags)
CHANGES(link, (const char *from, const char *to), from, to)
CHANGES(linkat, (int folder, const char *from, int other, const char *to, int flags), folder, from,
        other, to, flags)
CHANGES(symlink, (const char *to, const char *path), to, path)
CHANGES(symlinkat, (const char *to, int folder, const char *path), to, folder, path)
CHANGES(mkdir, (const char *path, mode_t mode), path, mode)
CHANGES(mkdirat, (int folder, const char *path, mode_t mode), folder, path, mode)
CHANGES(mkfifo, (const char *path, mode_t mode), path, mode)
CHANGES(mkfifoat, (int folder, const char *path, mode_t mode), folder, path, mode)
CHANGES(mknod, (const char *path, mode_t mode, dev_t device), path, mode, device)
CHANGES(mknodat, (int folder, const char *path, mode_t mode, dev_t device), folder, path, mode,
        device)
CHANGES(truncate, (const char *path, off_t size), path, size)
CHANGES(truncate64, (const char *path, off64_t size), path, size)
CHANGES(chmod, (const char *path, mode_t mode), path, mode)
CHANGES(fchmod, (int descriptor, mode_t mode), descriptor, mode)
CHANGES(fchmodat, (int folder, const char *path, mode_t mode, int flags), folder, path, mode, flags)
CHANGES(chown, (const char *path, uid_t owner, gid_t group), path, owner, group)
CHANGES(lchown, (const char *path, uid_t owner, gid_t group), path, owner, group)
CHANGES(fchown, (int descriptor, uid_t owner, gid_t group), descriptor, owner, group)
CHANGES(fchownat, (int folder, const char *path, uid_t owner, gid_t group, int flags), folder, path,
        owner, group, flags)
CHANGES(utime, (const char *path, const struct utimbuf *times), path, times)
CHANGES(utimes, (const char *path, const struct timeval times[2]), path, times)
CHANGES(lutimes, (const char *path, const struct timeval times[2]), path, times)
CHANGES(futimens, (int descriptor, const struct timespec times[2]), descriptor, times)
CHANGES(utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
        folder, path, times, flags)
