// SPDX-License-Identifier: Apache-2.0
// Directories that need an overlay of their own where only the caller's ids are mapped.
//
// To change a file, an overlay first copies the directories above it, with their owners, and owners
// that are not mapped make that fail (EOVERFLOW). The root of an overlay is not copied. So the
// places a program is most likely to write in become roots: on the way to each, the directories
// that the caller may write in and that are not, or do not lie in, its own.
#include "sandbox.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_own(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_uid == geteuid() && info.st_gid == getegid();
}

static bool is_known(const struct own *own, const char *path) {
    for (size_t i = 0; i < own->count; i++)
        if (strcmp(own->paths[i], path) == 0)
            return true;
    return false;
}

static void add(struct own *own, const char *path) {
    if (own->count < OWN_MAX && !is_known(own, path))
        if ((own->paths[own->count] = strdup(path)))
            own->count++;
}

static void add_way_to(struct own *own, const char *directory) {
    char path[PATH_MAX];
    if (!directory || !realpath(directory, path))
        return;
    bool above = false; // whether what lies above is the caller's
    for (char *end = path + 1; *end; end++) {
        end += strcspn(end, "/");
        char saved = *end;
        *end = '\0';
        bool own_now = is_own(path);
        if (!(own_now && above) && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0)
            add(own, path);
        above = own_now;
        *end = saved;
        if (!saved)
            break;
    }
}

void own_find(struct own *own, const char *current, const char *const *more) {
    own->count = 0;
    add_way_to(own, "/var/tmp");
    add_way_to(own, current);
    add_way_to(own, getenv("HOME"));
    add_way_to(own, getenv("TMPDIR"));
    for (int i = 0; i < WORK_MAX && more[i]; i++)
        add_way_to(own, more[i]);
}
