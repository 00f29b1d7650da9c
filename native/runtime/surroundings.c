// SPDX-License-Identifier: Apache-2.0
// What the program is told of its surroundings that may be others in a replay: where links lead
// (/proc/self), what may be accessed (/proc/123), how much room a disk has, limits, the list of
// processes.
#include "asks.h"
#include "descriptors.h"
#include "input.h"
#include "libc.h"
#include "sync.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

// The result of a call of libc's, with what it has put at `data`; -1 with errno.
static int told(int result, void *data, size_t size, const void *pc) {
    int how[2] = {result, result < 0 ? errno : 0};
    if (!ew_running)
        return result;
    ew_input(EW_INPUT_DATA, how, sizeof how, sizeof how);
    if (how[0] < 0)
        errno = how[1];
    else if (size)
        ew_input(EW_INPUT_DATA, data, size, size);
    if (how[0] >= 0 && size)
        ew_touch(EW_OP_STORE, data, size, pc);
    return how[0];
}

// --- links

static ssize_t link_at(int folder, const char *path, char *into, size_t room, const void *pc) {
    if (!ew_running)
        return raw6(SYS_readlinkat, folder, (long)path, (long)into, (long)room, 0, 0);
    struct ew_file_told told = {ew_ask(SYS_readlinkat, folder, (long)path, NULL), .is_file = true,
                                .data = into, .room = room};
    if (ew_files_are_asked())
        told.result = raw6(SYS_readlinkat, folder, (long)path, (long)into, (long)room, 0, 0);
    long length = ew_input_of_file(&told);
    if (length >= 0)
        ew_touch(EW_OP_STORE, into, (size_t)length, pc);
    return ew_result(length);
}

EW_EXPORT ssize_t readlink(const char *path, char *into, size_t room) {
    return link_at(AT_FDCWD, path, into, room, PC);
}

EW_EXPORT ssize_t readlinkat(int folder, const char *path, char *into, size_t room) {
    return link_at(folder, path, into, room, PC);
}

_Noreturn void __chk_fail(void);

EW_EXPORT ssize_t __readlink_chk(const char *path, char *into, size_t room, size_t has) {
    if (room > has)
        __chk_fail();
    return link_at(AT_FDCWD, path, into, room, PC);
}

EW_EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *into, size_t room,
                                   size_t has) {
    if (room > has)
        __chk_fail();
    return link_at(folder, path, into, room, PC);
}

// --- whether a file is there, and how much room there is

EW_REAL(access);
EW_REAL(faccessat);
EW_REAL(statfs);
EW_REAL(fstatfs);
EW_REAL(statvfs);
EW_REAL(fstatvfs);

// The result of a call of libc's about a path or a descriptor, with what it has put at `data`.
static int told_of_file(int result, uint32_t ask, void *data, size_t size, const void *pc) {
    if (!ew_running)
        return result;
    struct ew_file_told told = {ask, true, result < 0 ? -errno : result, data, size, size};
    long answer = ew_input_of_file(&told);
    if (answer >= 0 && size)
        ew_touch(EW_OP_STORE, data, size, pc);
    return (int)ew_result(answer);
}

static uint32_t about_path(long number, int folder, const char *path) {
    return ew_ask(number, folder, (long)path, NULL);
}

EW_EXPORT int access(const char *path, int mode) {
    return told_of_file(REAL(access)(path, mode), about_path(SYS_faccessat, AT_FDCWD, path), NULL,
                        0, PC);
}

EW_EXPORT int faccessat(int folder, const char *path, int mode, int flags) {
    return told_of_file(REAL(faccessat)(folder, path, mode, flags),
                        about_path(SYS_faccessat, folder, path), NULL, 0, PC);
}

_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64) &&
                   sizeof(struct statvfs) == sizeof(struct statvfs64) &&
                   sizeof(struct rlimit) == sizeof(struct rlimit64),
               "there are two names for one thing");

EW_EXPORT int statfs(const char *path, struct statfs *into) {
    return told_of_file(REAL(statfs)(path, into), about_path(SYS_statfs, AT_FDCWD, path), into,
                        sizeof *into, PC);
}
EW_ALIAS(statfs64, statfs);
EW_ALIAS(__statfs, statfs);

EW_EXPORT int fstatfs(int descriptor, struct statfs *into) {
    return told_of_file(REAL(fstatfs)(descriptor, into), ew_ask(SYS_fstatfs, descriptor, 0, NULL),
                        into, sizeof *into, PC);
}
EW_ALIAS(fstatfs64, fstatfs);

EW_EXPORT int statvfs(const char *path, struct statvfs *into) {
    return told_of_file(REAL(statvfs)(path, into), about_path(SYS_statfs, AT_FDCWD, path), into,
                        sizeof *into, PC);
}
EW_ALIAS(statvfs64, statvfs);

EW_EXPORT int fstatvfs(int descriptor, struct statvfs *into) {
    return told_of_file(REAL(fstatvfs)(descriptor, into), ew_ask(SYS_fstatfs, descriptor, 0, NULL),
                        into, sizeof *into, PC);
}
EW_ALIAS(fstatvfs64, fstatvfs);

// --- limits

EW_REAL(umask);
EW_REAL(getrlimit);

EW_EXPORT mode_t umask(mode_t mask) {
    return (mode_t)told((int)REAL(umask)(mask), NULL, 0, PC);
}

EW_EXPORT int getrlimit(__rlimit_resource_t resource, struct rlimit *into) {
    return told(REAL(getrlimit)(resource, into), into, sizeof *into, PC);
}
EW_ALIAS(getrlimit64, getrlimit);

// A replay sets its own limits, and those of nobody else.
EW_EXPORT int prlimit(pid_t process, __rlimit_resource_t resource, const struct rlimit *wish,
                      struct rlimit *old) {
    bool own = process == 0 || process == getpid();
    long error = own || !ew_replaying ? raw6(SYS_prlimit64, own ? 0 : process, (long)resource,
                                             (long)wish, (long)old, 0, 0)
                                      : 0;
    return told((int)ew_result(error), old, old ? sizeof *old : 0, PC);
}
EW_ALIAS(prlimit64, prlimit);

// --- what the kernel lists just now

#define ENTRIES 64 // who holds that many at once has read them from as many folders

EW_REAL(readdir);

EW_EXPORT struct dirent *readdir(DIR *folder) {
    EW_LARGE static struct dirent entries[ENTRIES];
    static uint32_t next;
    struct dirent *found = REAL(readdir)(folder);
    if (!ew_running || !ew_tells_of_now(dirfd(folder)))
        return found;
    struct dirent *entry = &entries[next++ % ENTRIES];
    if (found)
        memcpy(entry, found, found->d_reclen);
    return ew_input(EW_INPUT_DATA, entry, found ? found->d_reclen : 0, sizeof *entry) ? entry
                                                                                      : NULL;
}
EW_ALIAS(readdir64, readdir);
