// SPDX-License-Identifier: Apache-2.0
// The entries of directories that a call will go through by its paths: each is something that
// another process can make or take away. Links on the way are followed as the kernel does.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "call_table.h"
#include "numbering.h"
#include "tracer.h"

enum { LINKS_MAX = 40 }; // as the kernel has it

struct walk {
    struct thread *thread;
    uint32_t path; // first or second of the call
    bool follow;   // a link that the path ends with
    int at;        // the directory reached, or -1
    bool in_root;  // that is the root
    int links;
    char root[32], rest[2 * PATH_MAX];
};

static void note(struct walk *walk, const struct stat *directory, const char *name, size_t length,
                 const struct stat *found, bool last) {
    struct thread *thread = walk->thread;
    if (thread->lookup_count == LOOKUPS_MAX)
        return;
    thread->lookups[thread->lookup_count++] = (struct lookup){
        object_of(directory), text_number(name, length), found ? object_of(found) : 0, walk->path,
        (last ? LOOKUP_LAST : 0) | (walk->in_root ? LOOKUP_IN_ROOT : 0)};
}

static void go_to(struct walk *walk, int directory) {
    if (walk->at >= 0)
        close(walk->at);
    walk->at = directory;
    walk->in_root = false;
}

static void go_to_root(struct walk *walk) {
    go_to(walk, open(walk->root, O_PATH | O_DIRECTORY | O_CLOEXEC));
    walk->in_root = true;
}

// /proc/self leads each process to its own entry; asked by us, to ours.
static bool is_self(int link, const char *name) {
    struct statfs system;
    return strcmp(name, "self") == 0 && fstatfs(link, &system) == 0 &&
           system.f_type == PROC_SUPER_MAGIC;
}

// What the link says comes before what is left of the path.
static bool follow_link(struct walk *walk, int link, const char *name, const char *rest) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(link, "", target, sizeof target - 1);
    if (length <= 0 || ++walk->links > LINKS_MAX)
        return false;
    target[length] = '\0';
    if (is_self(link, name))
        snprintf(target, sizeof target, "%d", (int)walk->thread->process);
    char joined[sizeof walk->rest];
    int size = snprintf(joined, sizeof joined, "%s%s%s", target, *rest ? "/" : "", rest);
    if (size < 0 || (size_t)size >= sizeof joined)
        return false;
    strcpy(walk->rest, joined);
    if (target[0] == '/')
        go_to_root(walk);
    return true;
}

// One part of the path. False when the walk is over.
static bool step(struct walk *walk) {
    char *name = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(name, "/");
    const char *rest = name + length + strspn(name + length, "/");
    if (!length || walk->at < 0 || length > NAME_MAX)
        return false;
    char part[NAME_MAX + 1];
    memcpy(part, name, length);
    part[length] = '\0';
    struct stat directory, status;
    int next = openat(walk->at, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool there = next >= 0 && fstat(next, &status) == 0;
    if (fstat(walk->at, &directory) == 0 && strcmp(part, ".") != 0 && strcmp(part, "..") != 0)
        note(walk, &directory, part, length, there ? &status : NULL, !*rest);
    if (!there) {
        if (next >= 0)
            close(next);
        return false;
    }
    if (S_ISLNK(status.st_mode) && (*rest || walk->follow)) {
        bool on = follow_link(walk, next, part, rest);
        close(next);
        return on;
    }
    go_to(walk, next);
    memmove(walk->rest, rest, strlen(rest) + 1);
    return true;
}

static void note_path(struct thread *thread, const char *path) {
    size_t length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start && path[start - 1] != '/')
        start--;
    thread->call.value = text_number(path, strlen(path));
    thread->name = (uint32_t)hash_of(path + start, length - start);
}

static void take_path(struct thread *thread, uint32_t path, int directory, uint64_t address,
                      bool follow) {
    struct walk walk = {.thread = thread, .path = path, .follow = follow, .at = -1};
    char start[64];
    if (memory_text(thread->id, address, walk.rest, PATH_MAX) <= 0)
        return;
    if (path == 0)
        note_path(thread, walk.rest);
    snprintf(walk.root, sizeof walk.root, "/proc/%d/root", (int)thread->id);
    if (directory == AT_FDCWD)
        snprintf(start, sizeof start, "/proc/%d/cwd", (int)thread->id);
    else
        snprintf(start, sizeof start, "/proc/%d/fd/%d", (int)thread->id, directory);
    if (walk.rest[0] == '/')
        go_to_root(&walk);
    else
        go_to(&walk, open(start, O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (step(&walk))
        ;
    go_to(&walk, -1);
}

static uint64_t argument(const struct thread *thread, int number) {
    const uint64_t *arguments = &thread->call.a0;
    return arguments[number];
}

// Whether the flags of the call, if it has any, let a link at the end be followed.
static bool follows(const struct thread *thread) {
    for (int i = 0; i < ARGUMENTS; i++) {
        uint64_t flags = argument(thread, i);
        unsigned takes = thread->shape->takes[i];
        if (takes == TAKES_AT_FLAGS && (flags & AT_SYMLINK_NOFOLLOW))
            return false;
        if (takes == TAKES_OPEN_FLAGS &&
            ((flags & O_NOFOLLOW) || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)))
            return false;
    }
    return true;
}

void lookups_take(struct thread *thread) {
    int directory = AT_FDCWD;
    uint32_t path = 0;
    thread->lookup_count = 0;
    for (int i = 0; i < ARGUMENTS; i++) {
        unsigned takes = thread->shape->takes[i];
        if (takes == TAKES_DIRECTORY)
            directory = (int)argument(thread, i);
        if (takes != TAKES_PATH && takes != TAKES_LINK && takes != TAKES_NEW_PATH)
            continue;
        bool follow = takes == TAKES_PATH && follows(thread);
        take_path(thread, path++, directory, argument(thread, i), follow);
        directory = AT_FDCWD;
    }
}
