// SPDX-License-Identifier: Apache-2.0
// The file system as the command sees it: every path as outside, every change in a tmpfs.
//
// While it is made, / is a tmpfs that nobody else sees:
//
//   /old         all that was mounted
//   /new         the tree that becomes /
//   /upper/N     where changes of one overlay go, /work/N what the kernel needs beside it
//   /mirror/N    a directory made by hand where the kernel refuses an overlay of the real one
//   /layers      what lies where, one record "WHAT N PATH\0" for each; WHAT is upper, mirror,
//                read-only or left-out
//
// A directory becomes an overlay, and so does each mount below it. Where mounts below make the
// kernel refuse that (in a user namespace), it is mirrored: a new directory with an overlay for
// each of its own directories. What can be neither is shown read-only. Nothing is ever writable
// that is not one of the layers.
#include "devices.h"
#include "mounts.h"
#include "place.h"
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

static int mount_scratch(uint64_t size) {
    // Directories that exist everywhere; what is in them comes back a moment later.
    static const char *const places[] = {"/tmp", "/mnt", "/run", "/srv", "/media"};
    char options[64] = "mode=0755";
    int error = ENOENT;
    if (size)
        snprintf(options, sizeof options, "mode=0755,size=%llu", (unsigned long long)size);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (mount("eitherway", places[i], "tmpfs", 0, options) == 0)
            return chdir(places[i]);
        if (errno != ENOENT)
            error = errno;
    }
    errno = error;
    return -1;
}

static const char *enter_scratch(uint64_t size) {
    static const char *const names[] = {"old", "new", "upper", "work", "mirror"};
    if (mount_scratch(size) < 0)
        return "mount of a tmpfs";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (mkdir(names[i], 0755) < 0)
            return "mkdir in a tmpfs";
    if (syscall(SYS_pivot_root, ".", "old") < 0)
        return "pivot_root";
    return chdir("/") < 0 ? "chdir" : NULL;
}

static const char *leave_scratch(void) {
    if (chdir("/new") < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
        return "pivot_root into the tree";
    // The old root lies on top of the new one now; with it goes everything that is not isolated.
    if (umount2(".", MNT_DETACH) < 0)
        return "unmounting what is outside";
    return chdir("/") < 0 ? "chdir" : NULL;
}

static const char *fill(struct box *box, struct tree *tree) {
    if (place(tree, "/") < 0)
        return tree->failed ? tree->failed : "the tree of files";
    for (size_t i = 0; box->user_ids && i < box->own.count; i++)
        if (place_again(tree, box->own.paths[i]) < 0)
            return "an overlay of a directory to work in";
    const char *failed = devices_make(tree, box->options->devices);
    if (failed)
        return failed;
    if (show_kernel(tree, "/sys", true) < 0)
        return "showing /sys read-only";
    if (show_kernel(tree, "/proc", false) < 0)
        return "showing /proc";
    return NULL;
}

static const char *make(struct box *box, struct tree *tree) {
    const char *failed = enter_scratch(box->options->limits.disk);
    if (failed)
        return failed;
    box->scratch = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Outside the first user namespace, an overlay can keep its notes only in user.* attributes.
    tree->user_attributes = setxattr("/upper", "trusted.eitherway", "", 0, 0) < 0;
    tree->layers = fopen("/layers", "we");
    if (box->scratch < 0 || !tree->layers)
        return "files in a tmpfs";
    failed = fill(box, tree);
    if (fclose(tree->layers) != 0 && !failed)
        failed = "writing the list of layers";
    return failed ? failed : leave_scratch();
}

const char *tree_build(struct box *box) {
    struct tree tree = {0};
    mode_t mask = umask(0);
    if (mounts_read(&tree.mounts) < 0)
        return "reading the list of mounts";
    const char *failed = make(box, &tree);
    mounts_free(&tree.mounts);
    umask(mask);
    if (failed)
        return failed;
    box->files = tree.mirrored_root ? "overlay-tops" : "overlay-root";
    box->read_only = tree.read_only;
    return NULL;
}
