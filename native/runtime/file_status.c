// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of a file is input: a file that the program makes has another number and
// other times in every run.
#include "input.h"
#include "libc.h"
#include "sync.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int told(long result, void *status, size_t size, const void *pc) {
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    ew_input(EW_INPUT_DATA, status, size, size);
    ew_touch(EW_OP_STORE, status, size, pc);
    return 0;
}

static int at(int folder, const char *path, void *status, int flags, const void *pc) {
    long result = ew_input_call(SYS_newfstatat, folder, (long)path, (long)status, flags, 0, 0);
    return told(result, status, sizeof(struct stat), pc);
}

static int of(int descriptor, void *status, const void *pc) {
    long result = ew_input_call(SYS_fstat, descriptor, (long)status, 0, 0, 0, 0);
    return told(result, status, sizeof(struct stat), pc);
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "there are two names for one thing");

EW_EXPORT int stat(const char *path, struct stat *status) {
    return at(AT_FDCWD, path, status, 0, PC);
}

EW_EXPORT int stat64(const char *path, struct stat64 *status) {
    return at(AT_FDCWD, path, status, 0, PC);
}

EW_EXPORT int lstat(const char *path, struct stat *status) {
    return at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW, PC);
}

EW_EXPORT int lstat64(const char *path, struct stat64 *status) {
    return at(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW, PC);
}

EW_EXPORT int fstat(int descriptor, struct stat *status) {
    return of(descriptor, status, PC);
}

EW_EXPORT int fstat64(int descriptor, struct stat64 *status) {
    return of(descriptor, status, PC);
}

EW_EXPORT int fstatat(int folder, const char *path, struct stat *status, int flags) {
    return at(folder, path, status, flags, PC);
}

EW_EXPORT int fstatat64(int folder, const char *path, struct stat64 *status, int flags) {
    return at(folder, path, status, flags, PC);
}

EW_EXPORT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
    long result = ew_input_call(SYS_statx, folder, (long)path, flags, mask, (long)status, 0);
    return told(result, status, sizeof *status, PC);
}
