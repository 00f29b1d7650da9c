// SPDX-License-Identifier: Apache-2.0
// Descriptors that were opened outside: through a directory every file below it could be changed,
// and a file that is open for reading can be opened again for writing (/proc/self/fd/N). Those are
// opened anew inside, by their paths. What is open for writing is the caller's channel and stays.
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct one {
    int fd;
    int flags;
    bool directory;
    off_t offset;
    char *path;
};

struct kept {
    size_t count;
    struct one *list;
};

static bool below(const char *path, const char *top) {
    size_t length = strlen(top);
    return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

// The path, when it still names what the descriptor has open and there is such a file inside.
static char *path_of(int fd, const struct stat *info) {
    char link[32], path[PATH_MAX];
    struct stat named;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    if (path[0] != '/' || below(path, "/proc") || below(path, "/sys") || below(path, "/dev"))
        return NULL;
    if (stat(path, &named) < 0 || named.st_dev != info->st_dev || named.st_ino != info->st_ino)
        return NULL;
    return strdup(path);
}

static int keep_one(struct kept *kept, int fd) {
    struct stat info;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (fcntl(fd, F_GETFD) & FD_CLOEXEC) || fstat(fd, &info) < 0)
        return 0;
    bool directory = S_ISDIR(info.st_mode);
    bool read_only = (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH);
    if (!directory && !(S_ISREG(info.st_mode) && read_only))
        return 0;
    struct one *list = reallocarray(kept->list, kept->count + 1, sizeof *list);
    if (!list)
        return -1;
    kept->list = list;
    off_t offset = lseek(fd, 0, SEEK_CUR);
    list[kept->count++] = (struct one){.fd = fd,
                                       .flags = flags,
                                       .directory = directory,
                                       .offset = offset,
                                       .path = path_of(fd, &info)};
    return 0;
}

struct kept *kept_find(int as_is) {
    struct kept *kept = calloc(1, sizeof *kept);
    DIR *all = opendir("/proc/self/fd");
    if (!kept || !all) {
        free(kept);
        if (all)
            closedir(all);
        return NULL;
    }
    struct dirent *entry;
    int failed = 0;
    while (!failed && (entry = readdir(all)))
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(all) &&
            atoi(entry->d_name) != as_is)
            failed = keep_one(kept, atoi(entry->d_name));
    closedir(all);
    return failed ? NULL : kept;
}

static int reopen(const struct one *one) {
    int kinds = O_PATH | O_NONBLOCK | O_NOATIME | O_DIRECTORY | O_APPEND;
    int fd = open(one->path, (one->flags & kinds) | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && (one->flags & O_NOATIME))
        fd = open(one->path, (one->flags & kinds & ~O_NOATIME) | O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (one->offset > 0)
        lseek(fd, one->offset, SEEK_SET);
    int done = dup2(fd, one->fd); // without close-on-exec, as it came
    close(fd);
    return done < 0 ? -1 : 0;
}

const char *kept_reopen(const struct kept *kept) {
    static char text[PATH_MAX + 100];
    for (size_t i = 0; i < kept->count; i++) {
        const struct one *one = &kept->list[i];
        if (one->path && reopen(one) == 0)
            continue;
        if (!one->directory)
            continue; // deleted, anonymous or unreadable: nothing inside could stand for it
        snprintf(text, sizeof text, "descriptor %d is a directory that cannot be opened inside: %s",
                 one->fd, one->path ? one->path : "it has no path");
        return text;
    }
    return NULL;
}
