// SPDX-License-Identifier: Apache-2.0
// /dev: what is behind a device cannot be kept apart, so only those that keep nothing are there.
#include "devices.h"

#include "sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ordinary[] = {"/dev/null",       "/dev/zero",    "/dev/full",
                                       "/dev/random",     "/dev/urandom", "/dev/tty",
                                       "/dev/userfaultfd"};

static const struct {
    const char *name, *target;
} links[] = {{"/new/dev/fd", "/proc/self/fd"},
             {"/new/dev/stdin", "/proc/self/fd/0"},
             {"/new/dev/stdout", "/proc/self/fd/1"},
             {"/new/dev/stderr", "/proc/self/fd/2"},
             {"/new/dev/ptmx", "pts/ptmx"}};

static const char *bind_ordinary(void) {
    for (size_t i = 0; i < sizeof ordinary / sizeof ordinary[0]; i++) {
        char old[64];
        snprintf(old, sizeof old, "/old%s", ordinary[i]);
        if (access(old, F_OK) == 0 && bind_file(ordinary[i], false) < 0)
            return "a device in a new /dev";
    }
    return NULL;
}

static const char *bind_extra(const char *const *extra) {
    for (int i = 0; i < DEVICES_MAX && extra[i]; i++)
        if (bind_file(extra[i], false) < 0)
            return "a device that was asked for";
    return NULL;
}

static const char *make_links(void) {
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (symlink(links[i].target, links[i].name) < 0)
            return "a link in a new /dev";
    return NULL;
}

static const char *make_terminals(const struct tree *tree) {
    // Group 5 is that of terminals everywhere; where ids are not mapped it is unknown.
    const char *options = tree->user_attributes ? "newinstance,ptmxmode=0666,mode=620"
                                                : "newinstance,ptmxmode=0666,mode=620,gid=5";
    if (mkdir("/new/dev/pts", 0755) < 0)
        return "mkdir in a new /dev";
    return mount("devpts", "/new/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, options) < 0
               ? "mount of devpts"
               : NULL;
}

// Shared memory by name: an overlay where it is a mount, as it is nearly everywhere.
static const char *make_shared(struct tree *tree) {
    if (access("/old/dev/shm", F_OK) < 0)
        return NULL;
    if (mkdir("/new/dev/shm", 0755) < 0)
        return "mkdir in a new /dev";
    bool mounted = strcmp(mounts_covering(&tree->mounts, "/dev/shm")->path, "/dev/shm") == 0;
    int done = mounted ? place(tree, "/dev/shm") : place_empty(tree, "/dev/shm");
    return done < 0 ? "a /dev/shm" : NULL;
}

const char *devices_make(struct tree *tree, const char *const *extra) {
    const char *failed;
    if (access("/old/dev", F_OK) < 0)
        return NULL;
    if (mount("eitherway", "/new/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k") < 0)
        return "mount of a new /dev";
    if ((failed = bind_ordinary()) || (failed = bind_extra(extra)) || (failed = make_links()) ||
        (failed = make_terminals(tree)) || (failed = make_shared(tree)))
        return failed;
    if (mkdir("/new/dev/mqueue", 0755) < 0)
        return "mkdir in a new /dev";
    // Only the directory: below it are mounts of their own.
    return mount(NULL, "/new/dev", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC,
                 NULL) < 0
               ? "making /dev read-only"
               : NULL;
}
