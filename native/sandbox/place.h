// SPDX-License-Identifier: Apache-2.0
// Puts one directory of the old tree into the new one, with all that is mounted below it.
#ifndef EITHERWAY_PLACE_H
#define EITHERWAY_PLACE_H

#include "mounts.h"

#include <stdbool.h>
#include <stdio.h>

enum { PLACES_MAX = 2000 }; // overlays and mirrors of one tree

struct tree {
    struct mounts mounts;
    FILE *layers;
    unsigned places;
    unsigned read_only;
    bool user_attributes; // only user.* attributes may be written
    bool mirrored_root;
    const char *failed; // what to say, where the step alone does not tell
};

// All return 0, or -1 and errno.
int place(struct tree *tree, const char *path);
// An overlay of its own for a directory that lies inside another; nothing when it is not there.
int place_again(struct tree *tree, const char *path);
// An empty directory, with the attributes of the real one.
int place_empty(struct tree *tree, const char *path);
// The whole below `path` as it is.
int show_kernel(struct tree *tree, const char *path, bool read_only);
int bind_file(const char *path, bool read_only);
int make_read_only(const char *place);

#endif
