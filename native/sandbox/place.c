// SPDX-License-Identifier: Apache-2.0
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum { UNMAPPED = 65534 }; // the owner the kernel shows for an id that is not mapped

static int join(char to[PATH_MAX], const char *prefix, const char *path) {
    int length = snprintf(to, PATH_MAX, "%s%s", prefix, path);
    if (length >= 0 && length < PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

static int note(struct tree *tree, const char *what, unsigned number, const char *path) {
    if (strcmp(what, "read-only") == 0)
        tree->read_only++;
    return fprintf(tree->layers, "%s %u %s%c", what, number, path, '\0') < 0 ? -1 : 0;
}

int make_read_only(const char *place) {
    // struct mount_attr, which older headers lack: attributes to set, to clear, propagation, userns
    uint64_t attributes[4] = {1 /* MOUNT_ATTR_RDONLY */};
    return (int)syscall(SYS_mount_setattr, AT_FDCWD, place, AT_RECURSIVE, attributes,
                        sizeof attributes);
}

static int show_read_only(struct tree *tree, const char *path) {
    char old[PATH_MAX], new[PATH_MAX];
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0)
        return -1;
    if (mount(old, new, NULL, MS_BIND | MS_REC, NULL) < 0 || make_read_only(new) < 0)
        return -1;
    return note(tree, "read-only", 0, path);
}

int show_kernel(struct tree *tree, const char *path, bool read_only) {
    char old[PATH_MAX], new[PATH_MAX];
    (void)tree;
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0)
        return -1;
    if (access(old, F_OK) < 0)
        return 0;
    if (mount(old, new, NULL, MS_BIND | MS_REC, NULL) < 0)
        return -1;
    return read_only ? make_read_only(new) : 0;
}

int bind_file(const char *path, bool read_only) {
    char old[PATH_MAX], new[PATH_MAX];
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0)
        return -1;
    // Exclusively: opening what is there for writing would copy it into the upper layer.
    int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    if (mount(old, new, NULL, MS_BIND, NULL) < 0)
        return -1;
    return read_only ? make_read_only(new) : 0;
}

// The owner of the copy is the caller where the real one's id is not mapped. It must not get more
// access by that than it has outside.
static mode_t permitted(const char *old, mode_t mode) {
    mode_t mine = 0;
    mine |= faccessat(AT_FDCWD, old, R_OK, AT_EACCESS) == 0 ? S_IRUSR : 0;
    mine |= faccessat(AT_FDCWD, old, W_OK, AT_EACCESS) == 0 ? S_IWUSR : 0;
    mine |= faccessat(AT_FDCWD, old, X_OK, AT_EACCESS) == 0 ? S_IXUSR : 0;
    return (mode & ~(mode_t)S_IRWXU) | mine;
}

static int copy_attributes(const char *old, const char *copy) {
    struct stat info;
    if (stat(old, &info) < 0)
        return -1;
    mode_t mode = info.st_mode & 07777;
    if (chown(copy, info.st_uid, info.st_gid) < 0 || info.st_uid == UNMAPPED)
        mode = permitted(old, mode);
    struct timespec times[] = {info.st_atim, info.st_mtim};
    return chmod(copy, mode) < 0 ? -1 : utimensat(AT_FDCWD, copy, times, 0);
}

static int new_directory(struct tree *tree, const char *kind, const char *old, char made[64]) {
    if (tree->places >= PLACES_MAX) {
        tree->failed = "more than 2000 directories need an overlay of their own";
        errno = 0;
        return -1;
    }
    snprintf(made, 64, "/%s/%u", kind, tree->places);
    return mkdir(made, 0755) < 0 ? -1 : copy_attributes(old, made);
}

// The lower directory is the current one, for its name may hold what separates options.
static int mount_overlay(struct tree *tree, const char *old, const char *new, unsigned long flags) {
    // Directories that can be renamed, links that stay links, and numbers of inodes that stay; of
    // these user.* attributes can hold none. Attributes on a tmpfs came with Linux 6.6.
    const char *options =
        tree->user_attributes ? "userxattr" : "redirect_dir=on,index=on,xino=auto";
    char text[200];
    snprintf(text, sizeof text, "lowerdir=.,upperdir=/upper/%u,workdir=/work/%u,%s", tree->places,
             tree->places, options);
    if (chdir(old) < 0)
        return -1;
    int done = mount("overlay", new, "overlay", flags, text);
    int saved = errno;
    if (chdir("/") < 0)
        return -1;
    errno = saved;
    return done;
}

static int overlay(struct tree *tree, const char *path, unsigned long flags) {
    char old[PATH_MAX], new[PATH_MAX], upper[64], work[64];
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0 ||
        new_directory(tree, "upper", old, upper) < 0)
        return -1;
    snprintf(work, sizeof work, "/work/%u", tree->places);
    if (mkdir(work, 0700) < 0)
        return -1;
    if (mount_overlay(tree, old, new, flags) == 0)
        return note(tree, "upper", tree->places++, path);
    int saved = errno;
    rmdir(work);
    rmdir(upper);
    errno = saved;
    return -1;
}

static int copy_link(const char *old, const char *new) {
    char target[PATH_MAX];
    ssize_t length = readlink(old, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    return symlink(target, new);
}

static bool is_special(const char *path) {
    return strcmp(path, "/proc") == 0 || strcmp(path, "/sys") == 0 || strcmp(path, "/dev") == 0;
}

static bool is_in_special(const char *path) {
    return path_is_below(path, "/proc") || path_is_below(path, "/sys") ||
           path_is_below(path, "/dev");
}

static int mirror_entry(struct tree *tree, const char *path) {
    char old[PATH_MAX], new[PATH_MAX];
    struct stat info;
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0)
        return -1;
    if (lstat(old, &info) < 0)
        return errno == ENOENT || errno == EACCES ? 0 : -1; // gone, or a mount of somebody else
    if (S_ISLNK(info.st_mode))
        return copy_link(old, new);
    if (S_ISDIR(info.st_mode))
        return mkdir(new, 0755) < 0 ? -1 : is_special(path) ? 0 : place(tree, path);
    if (!S_ISREG(info.st_mode))
        return 0; // a socket or pipe leads outside
    return bind_file(path, true) < 0 ? -1 : note(tree, "read-only", 0, path);
}

static int mirror_entries(struct tree *tree, const char *path, DIR *directory) {
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        char inner[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int length = snprintf(inner, sizeof inner, "%s/%s", path[1] ? path : "", entry->d_name);
        if (length < 0 || length >= (int)sizeof inner) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (mirror_entry(tree, inner) < 0)
            return -1;
    }
    return 0;
}

// A directory of ours in the place of the real one; what is created in it stays in the tmpfs.
static int place_copy(struct tree *tree, const char *path, char made[64]) {
    char old[PATH_MAX], new[PATH_MAX];
    if (join(old, "/old", path) < 0 || join(new, "/new", path) < 0 ||
        new_directory(tree, "mirror", old, made) < 0)
        return -1;
    if (mount(made, new, NULL, MS_BIND, NULL) < 0)
        return -1;
    return note(tree, "mirror", tree->places++, path);
}

static int mirror(struct tree *tree, const char *path) {
    char old[PATH_MAX], made[64];
    if (join(old, "/old", path) < 0 || place_copy(tree, path, made) < 0)
        return -1;
    DIR *directory = opendir(old);
    if (!directory)
        return -1;
    int done = mirror_entries(tree, path, directory);
    closedir(directory);
    // Once more: making the entries has changed its time.
    return done < 0 ? -1 : copy_attributes(old, made);
}

int place_empty(struct tree *tree, const char *path) {
    char made[64];
    return place_copy(tree, path, made);
}

static int place_inner_mounts(struct tree *tree, const char *path) {
    for (size_t i = 0; i < tree->mounts.count; i++) {
        const struct mount_point *inner = &tree->mounts.list[i];
        if (is_special(inner->path) || is_in_special(inner->path))
            continue;
        if (mounts_next(&tree->mounts, inner, path) && place(tree, inner->path) < 0)
            return -1;
    }
    return 0;
}

static int place_directory(struct tree *tree, const char *path, const struct mount_point *on) {
    bool inner = mounts_below(&tree->mounts, path);
    bool fixed = on->pseudo || (on->flags & MS_RDONLY);
    if (fixed && !inner)
        return show_read_only(tree, path);
    // In a user namespace the mounts below are locked to what they are mounted on.
    bool whole = !(inner && tree->user_attributes);
    if (whole && overlay(tree, path, on->flags) == 0)
        return place_inner_mounts(tree, path);
    if (tree->failed)
        return -1;
    if (!inner)
        return show_read_only(tree, path);
    if (!path[1])
        tree->mirrored_root = true;
    return mirror(tree, path);
}

int place(struct tree *tree, const char *path) {
    char old[PATH_MAX];
    struct stat info;
    const struct mount_point *on = mounts_covering(&tree->mounts, path);
    if (!on || join(old, "/old", path) < 0)
        return -1;
    if (on->automatic)
        return note(tree, "left-out", 0, path);
    if (stat(old, &info) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return 0;                                                  // another mount lies over it
        return errno == EACCES ? note(tree, "left-out", 0, path) : -1; // somebody else's FUSE
    }
    if (!S_ISDIR(info.st_mode)) // a file on a file: an overlay is of directories
        return bind_file(path, true) < 0 ? -1 : note(tree, "read-only", 0, path);
    return place_directory(tree, path, on);
}

static bool is_placed(const struct tree *tree, const char *path) {
    const struct mount_point *on = mounts_covering(&tree->mounts, path);
    bool top = tree->mirrored_root && !strchr(path + 1, '/');
    return top || !on || strcmp(on->path, path) == 0 || on->pseudo || (on->flags & MS_RDONLY);
}

int place_again(struct tree *tree, const char *path) {
    char old[PATH_MAX];
    struct stat info;
    if (is_placed(tree, path) || is_in_special(path))
        return 0;
    if (join(old, "/old", path) < 0)
        return -1;
    bool there = lstat(old, &info) == 0 && S_ISDIR(info.st_mode);
    // With mounts below it the kernel refuses, and its directories have overlays of their own.
    if (!there || mounts_below(&tree->mounts, path))
        return 0;
    return overlay(tree, path, mounts_covering(&tree->mounts, path)->flags);
}
