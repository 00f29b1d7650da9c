// SPDX-License-Identifier: Apache-2.0
// Overlays: over a plain directory, over / in one piece, over each top directory of /.
//
// Everything is mounted on a tmpfs in a private mount namespace and vanishes with this process.
// Inside a user namespace an overlay of / in one piece is refused (EINVAL) as soon as anything is
// mounted below /: those mounts are locked together, and the kernel will not clone / without them.
// Overlays of the top directories, each of which has no mounts below it, do the same work.
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static int mount_scratch(void) {
    // Directories that no program needs in order to run.
    static const char *const places[] = {"/mnt", "/media", "/srv", "/run", "/tmp"};
    int error = ENOENT;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (mount("tmpfs", places[i], "tmpfs", 0, "mode=0755") == 0)
            return chdir(places[i]);
        if (errno != ENOENT)
            error = errno;
    }
    errno = error;
    return -1;
}

const char *private_scratch(void) {
    if (unshare(CLONE_NEWNS) < 0)
        return "unshare(CLONE_NEWNS)";
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return "making mounts private";
    return mount_scratch() < 0 ? "mount of a tmpfs" : NULL;
}

static int mount_overlay(const char *lower, const char *upper, const char *work, const char *at) {
    char options[1024];
    // In a user namespace only user.* attributes may be written (Linux 5.11; tmpfs since 6.6).
    const char *const forms[] = {in_user_namespace() ? ",userxattr" : "", ""};
    for (size_t i = 0; i < 2; i++) {
        int length = snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s%s",
                              lower, upper, work, forms[i]);
        if (length < 0 || (size_t)length >= sizeof options) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (mount("overlay", at, "overlay", 0, options) == 0)
            return 0;
    }
    return -1;
}

static int make_dirs(const char *const names[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (mkdir(names[i], 0755) < 0)
            return -1;
    return 0;
}

static int make_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    size_t length = strlen(text);
    bool whole = write(fd, text, length) == (ssize_t)length;
    close(fd);
    return whole ? 0 : -1;
}

static bool file_is(const char *path, const char *text) {
    char seen[16];
    return read_file(path, seen, sizeof seen) >= 0 && strcmp(seen, text) == 0;
}

// What a build or a test does to its tree: change, delete, replace a directory.
static struct answer use_overlay(void) {
    if (make_file("merged/file", "new") < 0)
        return no("writing a file through the overlay");
    if (!file_is("lower/file", "old") || !file_is("merged/file", "new"))
        return wrong("a write through the overlay reached the lower directory");
    if (unlink("merged/gone") < 0)
        return no("deleting a file through the overlay");
    if (access("merged/gone", F_OK) == 0 || access("lower/gone", F_OK) < 0)
        return wrong("a deletion through the overlay is not kept apart");
    if (rmdir("merged/dir") < 0 || mkdir("merged/dir", 0755) < 0)
        return no("replacing a directory through the overlay");
    return yes("changes, deletions and new directories stay in the upper layer");
}

struct answer probe_overlay_dir(void) {
    static const char *const dirs[] = {"lower", "lower/dir", "upper", "work", "merged"};
    const char *failed = private_scratch();
    if (failed)
        return no("%s", failed);
    if (make_dirs(dirs, sizeof dirs / sizeof dirs[0]) < 0 || make_file("lower/file", "old") < 0 ||
        make_file("lower/gone", "old") < 0)
        return no("files in a private tmpfs");
    if (mount_overlay("lower", "upper", "work", "merged") < 0)
        return no("mount of an overlay over a directory");
    return use_overlay();
}

static bool is_overlay(const char *path) {
    struct statfs fs;
    return statfs(path, &fs) == 0 && (unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

struct answer probe_overlay_root(void) {
    static const char *const dirs[] = {"upper", "work", "merged"};
    const char *failed = private_scratch();
    if (failed)
        return no("%s", failed);
    if (make_dirs(dirs, sizeof dirs / sizeof dirs[0]) < 0)
        return no("mkdir in a private tmpfs");
    if (mount_overlay("/", "upper", "work", "merged") < 0)
        return no("mount of an overlay with lowerdir=/");
    if (!is_overlay("merged"))
        return wrong("the overlay of / is not there after its mount");
    if (chroot("merged") < 0 || chdir("/") < 0)
        return no("chroot into the overlay of /");
    if (access("/usr", X_OK) < 0)
        return no("access of /usr through the overlay");
    return yes("an overlay of / in one piece; mounts below / need their own");
}

struct tops {
    int overlaid;
    char bound[120]; // top directories that could only be passed through
};

// These hold the system's own mounts everywhere and keep nothing of a program's files.
static bool is_system(const char *name) {
    static const char *const names[] = {"proc", "sys",   "dev",  "run",
                                        "mnt",  "media", "boot", "lost+found"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static int overlay_top(const char *name, struct tops *tops) {
    char lower[300], upper[300], work[300], merged[300];
    snprintf(lower, sizeof lower, "/%s", name);
    snprintf(upper, sizeof upper, "upper/%s", name);
    snprintf(work, sizeof work, "work/%s", name);
    snprintf(merged, sizeof merged, "merged/%s", name);
    const char *const dirs[] = {upper, work, merged};
    if (make_dirs(dirs, 3) < 0)
        return -1;
    if (mount_overlay(lower, upper, work, merged) == 0) {
        tops->overlaid++;
        return 0;
    }
    size_t used = strlen(tops->bound);
    snprintf(tops->bound + used, sizeof tops->bound - used, " /%.60s", name);
    return 0;
}

static int overlay_each_top(DIR *root, struct tops *tops) {
    struct dirent *entry;
    while ((entry = readdir(root))) {
        struct stat info;
        if (entry->d_name[0] == '.' || is_system(entry->d_name))
            continue;
        if (fstatat(dirfd(root), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
            continue; // gone meanwhile
        if (S_ISDIR(info.st_mode) && overlay_top(entry->d_name, tops) < 0)
            return -1;
    }
    return 0;
}

struct answer probe_overlay_tops(void) {
    static const char *const dirs[] = {"upper", "work", "merged"};
    struct tops tops = {0};
    const char *failed = private_scratch();
    if (failed)
        return no("%s", failed);
    DIR *root = opendir("/");
    if (!root)
        return no("opendir /");
    int done = make_dirs(dirs, 3) < 0 ? -1 : overlay_each_top(root, &tops);
    closedir(root);
    if (done < 0)
        return no("mkdir in a private tmpfs");
    if (tops.overlaid == 0) {
        errno = EINVAL;
        return no("an overlay over each top directory of /");
    }
    if (tops.bound[0])
        return partly("%d top directories overlaid; mounts below%s refuse it", tops.overlaid,
                      tops.bound);
    return yes("each of the %d top directories overlaid", tops.overlaid);
}
