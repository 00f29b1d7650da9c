// SPDX-License-Identifier: Apache-2.0
// The mounts of this process, as the kernel lists them.
#ifndef EITHERWAY_MOUNTS_H
#define EITHERWAY_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>

struct mount_point {
    char *path;
    unsigned long flags; // MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_RDONLY
    bool automatic;      // looking into it would mount something
    bool pseudo;         // shows the kernel, not files
};

struct mounts {
    size_t count;
    struct mount_point *list; // in the order they were mounted; one for each path, the upmost
};

int mounts_read(struct mounts *mounts); // 0, or -1 and errno
void mounts_free(struct mounts *mounts);

bool path_is_below(const char *path, const char *top);
// The mount that `path` lies on.
const struct mount_point *mounts_covering(const struct mounts *mounts, const char *path);
// Whether something is mounted below it.
bool mounts_below(const struct mounts *mounts, const char *path);
// Whether `inner` is mounted below `path` with nothing mounted in between.
bool mounts_next(const struct mounts *mounts, const struct mount_point *inner, const char *path);

#endif
