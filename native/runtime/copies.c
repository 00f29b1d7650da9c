// SPDX-License-Identifier: Apache-2.0
#include "copies.h"
#include "descriptors.h"
#include "held_files.h"
#include "maps.h"
#include "mutex.h"
#include "pids.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

// --- descriptors

static bool files_return; // whoever asks for copies puts files back that have names

static bool is_file_apart(int descriptor, const struct stat *status) {
    bool writes = (raw3(SYS_fcntl, descriptor, F_GETFL, 0) & O_ACCMODE) != O_RDONLY;
    bool may_write = files_return && S_ISREG(status->st_mode);
    return (!writes || may_write) && ew_held_file(descriptor, status, writes);
}

// What leads outside is never touched when a recording is followed; standard input and output are
// set back by whoever asks for copies; devices such as /dev/null have no state.
static bool is_apart(int descriptor) {
    struct stat status;
    if (ew_look_where(descriptor, &status) || ew_is_standard(&status))
        return true;
    switch (status.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
        return is_file_apart(descriptor, &status);
    case S_IFCHR:
        return true;
    default:
        return false;
    }
}

static int number(const char *digits) {
    int value = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++)
        value = value * 10 + (*digits - '0');
    return value;
}

// Entries as getdents64 has them: inode, offset, u16 length, u8 type, name.
static bool are_apart(const char *entries, long size, const int own[2]) {
    for (long at = 0; at < size;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
        int descriptor = number(entry->d_name);
        at += entry->d_reclen;
        bool is_own = entry->d_name[0] == '.' || descriptor == own[0] || descriptor == own[1];
        if (!is_own && !is_apart(descriptor))
            return false;
    }
    return true;
}

static bool descriptors_are_apart(int control) {
    _Alignas(struct dirent64) char entries[2048];
    long folder = raw3(SYS_open, (long)"/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long got = folder;
    bool apart = folder >= 0;
    ew_held_files_forget();
    while (apart && (got = raw3(SYS_getdents64, folder, (long)entries, sizeof entries)) > 0)
        apart = are_apart(entries, got, (int[]){(int)folder, control});
    raw1(SYS_close, folder);
    return apart && got == 0;
}

// --- processes

static bool has_children(void) {
    return raw6(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT, 0, 0) != -ECHILD;
}

// --- memory

static bool shares;

static void take_mapping(uintptr_t from, uintptr_t to, const char *access) {
    if (access[1] == 'w' && access[3] == 's')
        shares |= !(files_return && ew_held_mapping(from, to, access));
}

static bool shares_memory(void) {
    shares = false;
    return !ew_maps_each(take_mapping) || shares;
}

// --- all of it

const char *ew_copies_meet(int control, bool files) {
    files_return = files;
    if (has_children())
        return "it has children";
    if (ew_mutexes_name_processes)
        return "it has a mutex that knows the process of its owner";
    if (!descriptors_are_apart(control))
        return "it has a file or a channel open that copies would share";
    return shares_memory() ? "it has memory that copies would share" : NULL;
}

void ew_copy_begins(void) {
    ew_held_files_return();
    ew_pids_copied();
}
