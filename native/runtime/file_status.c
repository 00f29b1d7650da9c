// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of a file is input: a file that the program makes has another number and
// other times in every run.
#include "asks.h"
#include "descriptors.h"
#include "file_numbers.h"
#include "file_times.h"
#include "input.h"
#include "libc.h"
#include "sync.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of(const void *status, size_t size) {
    return size == sizeof(struct statx) ? ((const struct statx *)status)->stx_mode
                                        : ((const struct stat *)status)->st_mode;
}

static bool is_file(mode_t mode) {
    return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

// A run that is to leave its recording knows its files by then.
static void note_file(const long call[6], const void *told, size_t size) {
    char now[sizeof(struct statx)] __attribute__((aligned(8)));
    long into = call[0] == SYS_fstat ? 2 : call[0] == SYS_statx ? 5 : 3, again[6];
    memcpy(again, call, sizeof again);
    again[into] = (long)now;
    if (raw6(again[0], again[1], again[2], again[3], again[4], again[5], 0) < 0)
        return;
    ew_file_was_told(now, told, size);
    ew_file_times_were_told(now, told, size);
}

static int told(const long call[6], long folder, const char *path, void *status, size_t size,
                const void *pc) {
    struct ew_file_told told = {.data = status, .size = size, .room = size};
    if (ew_files_are_asked())
        told.result = raw6(call[0], call[1], call[2], call[3], call[4], call[5], 0);
    bool leads_outside = !path && (folder == STDIN_FILENO || ew_is_outside((int)folder));
    told.is_file =
        told.result < 0 ? path != NULL : is_file(mode_of(status, size)) && !leads_outside;
    told.ask = ew_ask(call[0], folder, (long)path, NULL);
    long result = ew_input_of_file(&told);
    if (result >= 0 && !ew_files_are_asked())
        note_file(call, status, size);
    if (result >= 0)
        ew_touch(EW_OP_STORE, status, size, pc);
    return (int)ew_result(result);
}

static int at(int folder, const char *path, void *status, int flags, const void *pc) {
    const long call[6] = {SYS_newfstatat, folder, (long)path, (long)status, flags};
    return told(call, folder, path, status, sizeof(struct stat), pc);
}

static int of(int descriptor, struct stat *status, const void *pc) {
    const long call[6] = {SYS_fstat, descriptor, (long)status};
    return told(call, descriptor, NULL, status, sizeof *status, pc);
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
    const long call[6] = {SYS_statx, folder, (long)path, flags, mask, (long)status};
    return told(call, folder, path, status, sizeof *status, PC);
}
