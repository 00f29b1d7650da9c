// SPDX-License-Identifier: Apache-2.0
#include "mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

bool path_is_below(const char *path, const char *top) {
    size_t length = strlen(top);
    if (length == 1) // the root
        return path[1] != '\0';
    return strncmp(path, top, length) == 0 && path[length] == '/';
}

// Spaces, tabs, newlines and backslashes come as \040 and so on.
static void unescape(char *text) {
    char *to = text;
    for (const char *from = text; *from; to++) {
        if (from[0] == '\\' && from[1] && from[2] && from[3]) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static bool is_pseudo(const char *type) {
    static const char *const types[] = {
        "proc",      "sysfs",      "cgroup", "cgroup2",  "devtmpfs",   "devpts",
        "debugfs",   "tracefs",    "bpf",    "pstore",   "securityfs", "configfs",
        "fusectl",   "mqueue",     "nsfs",   "efivarfs", "hugetlbfs",  "binfmt_misc",
        "selinuxfs", "rpc_pipefs", "nfsd",   "resctrl"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

static unsigned long parse_flags(char *options) {
    static const struct {
        const char *word;
        unsigned long flag;
    } words[] = {
        {"ro", MS_RDONLY}, {"nosuid", MS_NOSUID}, {"nodev", MS_NODEV}, {"noexec", MS_NOEXEC}};
    unsigned long flags = 0;
    char *rest;
    for (char *word = strtok_r(options, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(word, words[i].word) == 0)
                flags |= words[i].flag;
    return flags;
}

// id parent major:minor root POINT OPTIONS [tag...] - TYPE source SUPER-OPTIONS
static bool parse(char *line, struct mount_point *mount) {
    char *fields[6], *rest = line;
    for (int i = 0; i < 6; i++)
        if (!(fields[i] = strsep(&rest, " ")))
            return false;
    char *tail = rest ? strstr(rest, "- ") : NULL;
    if (!tail)
        return false;
    tail += 2;
    char *type = strsep(&tail, " ");
    char *source = strsep(&tail, " ");
    if (!source || !tail)
        return false;
    tail[strcspn(tail, "\n")] = '\0';
    unescape(fields[4]);
    *mount = (struct mount_point){.path = strdup(fields[4]),
                                  .flags = parse_flags(fields[5]) | (parse_flags(tail) & MS_RDONLY),
                                  .automatic = strcmp(type, "autofs") == 0,
                                  .pseudo = is_pseudo(type)};
    return mount->path != NULL;
}

static int add(struct mounts *mounts, const struct mount_point *mount) {
    for (size_t i = 0; i < mounts->count; i++)
        if (strcmp(mounts->list[i].path, mount->path) == 0) {
            free(mounts->list[i].path);
            mounts->list[i] = *mount;
            return 0;
        }
    struct mount_point *list = reallocarray(mounts->list, mounts->count + 1, sizeof *list);
    if (!list)
        return -1;
    mounts->list = list;
    list[mounts->count++] = *mount;
    return 0;
}

int mounts_read(struct mounts *mounts) {
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t size = 0;
    int failed = file ? 0 : -1;
    *mounts = (struct mounts){0};
    while (!failed && getline(&line, &size, file) > 0) {
        struct mount_point mount;
        errno = EINVAL;
        failed = parse(line, &mount) ? add(mounts, &mount) : -1;
    }
    free(line);
    if (file)
        fclose(file);
    return failed;
}

void mounts_free(struct mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++)
        free(mounts->list[i].path);
    free(mounts->list);
    *mounts = (struct mounts){0};
}

const struct mount_point *mounts_covering(const struct mounts *mounts, const char *path) {
    const struct mount_point *best = NULL;
    for (size_t i = 0; i < mounts->count; i++) {
        const struct mount_point *mount = &mounts->list[i];
        bool covers = strcmp(path, mount->path) == 0 || path_is_below(path, mount->path);
        if (covers && (!best || strlen(mount->path) > strlen(best->path)))
            best = mount;
    }
    return best;
}

bool mounts_below(const struct mounts *mounts, const char *path) {
    for (size_t i = 0; i < mounts->count; i++)
        if (path_is_below(mounts->list[i].path, path))
            return true;
    return false;
}

bool mounts_next(const struct mounts *mounts, const struct mount_point *inner, const char *path) {
    if (!path_is_below(inner->path, path))
        return false;
    for (size_t i = 0; i < mounts->count; i++)
        if (path_is_below(mounts->list[i].path, path) &&
            path_is_below(inner->path, mounts->list[i].path))
            return false;
    return true;
}
