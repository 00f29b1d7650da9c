// SPDX-License-Identifier: Apache-2.0
#include "held_files.h"
#include "held_locks.h"
#include "runtime.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES 256
#define MAPPINGS 64
#define NAMES (1u << 16) // bytes, of all

EW_LARGE static struct file {
    int descriptor, same; // as this one before it, or as none but itself
    long at, flags, own_flags;
    ino_t inode;
    const char *name; // NULL: it has none
} files[FILES];
static uint32_t file_count;

EW_LARGE static struct mapping {
    uintptr_t from, to;
    long offset, protection;
    ino_t inode;
    const char *name;
} mappings[MAPPINGS];
static uint32_t mapping_count;

EW_LARGE static char names[NAMES];
static uint32_t names_size;

void ew_held_files_forget(void) {
    file_count = mapping_count = names_size = 0;
    ew_held_locks_forget();
}

// --- at that moment

static bool leads_to(const char *name, ino_t inode) {
    struct stat status;
    return raw3(SYS_stat, (long)name, (long)&status, 0) == 0 && status.st_ino == inode;
}

// The name that is at the end of `names`, if it leads there: then it stays.
static const char *keep_name(long length, ino_t inode) {
    char *name = names + names_size;
    if (length <= 0 || names_size + (uint64_t)length >= NAMES)
        return NULL;
    name[length] = 0;
    if (!leads_to(name, inode))
        return NULL;
    names_size += (uint32_t)length + 1;
    return name;
}

static const char *name_of(int descriptor, ino_t inode) {
    char link[40];
    ew_descriptor_path(link, "/proc/self/fd/", descriptor);
    return keep_name(raw3(SYS_readlink, (long)link, (long)(names + names_size), NAMES - names_size),
                     inode);
}

// The first that is the same description; false: the kernel does not say.
static bool find_same(struct file *file) {
    long self = raw1(SYS_getpid, 0);
    file->same = file->descriptor;
    for (uint32_t i = 0; i < file_count; i++) {
        if (files[i].inode != file->inode || files[i].same != files[i].descriptor)
            continue;
        long order =
            raw6(SYS_kcmp, self, self, KCMP_FILE, file->descriptor, files[i].descriptor, 0);
        if (order < 0)
            return false;
        if (order == 0)
            file->same = files[i].descriptor;
    }
    return true;
}

bool ew_held_file(int descriptor, const struct stat *status, bool named) {
    struct file file = {.descriptor = descriptor,
                        .at = raw3(SYS_lseek, descriptor, 0, SEEK_CUR),
                        .flags = raw3(SYS_fcntl, descriptor, F_GETFL, 0),
                        .own_flags = raw3(SYS_fcntl, descriptor, F_GETFD, 0),
                        .inode = status->st_ino};
    if (file_count == FILES || file.at < 0 || file.flags < 0 || file.flags & O_ASYNC)
        return false;
    file.name = S_ISREG(status->st_mode) ? name_of(descriptor, file.inode) : NULL;
    if (file.name && !find_same(&file))
        file.name = NULL; // it cannot be opened again
    if ((named && !file.name) || !ew_held_locks_give_up(descriptor))
        return false;
    files[file_count++] = file;
    return true;
}

static const char *hexadecimal(const char *at, long *value) {
    for (*value = 0; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        *value = *value << 4 | (*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return at;
}

// "rw-s OFFSET DEVICE INODE PATH"
bool ew_held_mapping(uintptr_t from, uintptr_t to, const char *line) {
    struct mapping mapping = {.from = from,
                              .to = to,
                              .protection = (line[0] == 'r' ? PROT_READ : 0) |
                                            (line[1] == 'w' ? PROT_WRITE : 0) |
                                            (line[2] == 'x' ? PROT_EXEC : 0)};
    struct stat status;
    const char *path = strchr(line, '/');
    size_t length = path ? strlen(path) : 0;
    if (!length || mapping_count == MAPPINGS || names_size + length >= NAMES)
        return false;
    hexadecimal(line + sizeof "rw-s", &mapping.offset);
    memcpy(names + names_size, path, length + 1);
    if (raw3(SYS_stat, (long)(names + names_size), (long)&status, 0) < 0 ||
        !S_ISREG(status.st_mode))
        return false; // it is gone
    mapping.inode = status.st_ino;
    mapping.name = keep_name((long)length, status.st_ino);
    mappings[mapping_count++] = mapping;
    return mapping.name != NULL;
}

// --- in a copy

static _Noreturn void is_lost(void) {
    ew_cannot("a file that a copy needs was not put back");
}

static void open_again(const struct file *file) {
    long other = file->same;
    if (file->same == file->descriptor)
        other = raw3(SYS_open, (long)file->name, file->flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0);
    bool moved = other >= 0 && raw3(SYS_dup3, other, file->descriptor,
                                    file->own_flags & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0;
    if (!moved)
        is_lost();
    if (other != file->same)
        raw1(SYS_close, other);
}

static void map_again(const struct mapping *mapping) {
    long file = raw3(SYS_open, (long)mapping->name, O_RDWR | O_CLOEXEC, 0);
    long size = (long)(mapping->to - mapping->from);
    long at = file < 0 ? file
                       : raw6(SYS_mmap, (long)mapping->from, size, mapping->protection,
                              MAP_SHARED | MAP_FIXED, file, mapping->offset);
    if (at != (long)mapping->from)
        is_lost();
    raw1(SYS_close, file);
}

void ew_held_files_return(void) {
    for (uint32_t i = 0; i < file_count; i++) {
        const struct file *file = &files[i];
        if (file->name && !leads_to(file->name, file->inode))
            open_again(file);
        raw3(SYS_lseek, file->descriptor, file->at, SEEK_SET);
        raw3(SYS_fcntl, file->descriptor, F_SETFL, file->flags);
        ew_held_locks_free(file->descriptor);
    }
    for (uint32_t i = 0; i < mapping_count; i++)
        if (!leads_to(mappings[i].name, mappings[i].inode))
            map_again(&mappings[i]);
    ew_held_locks_take();
}
