// SPDX-License-Identifier: Apache-2.0
// The entries of directories that a call will go through by its paths: each is something that
// another process can make or take away. Links on the way are followed as the kernel does.
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "call_table.h"
#include "numbering.h"
#include "tracer.h"

enum { LINKS_MAX = 40 }; // as the kernel has it

// What was gone through has no links in it: `gone` leads to the directory that was reached, from
// `base`, and one question to the kernel is enough for each part of the path.
struct walk {
    struct thread *thread;
    uint32_t path;      // first or second of the call
    bool follow;        // a link that the path ends with
    int base;           // descriptor
    uint32_t directory; // that was reached
    bool in_root;       // that is the root
    int links;
    size_t gone_length;
    char gone[2 * PATH_MAX], rest[2 * PATH_MAX];
};

static void note(struct walk *walk, const char *name, size_t length, uint32_t found, bool last) {
    struct thread *thread = walk->thread;
    if (thread->lookup_count == LOOKUPS_MAX)
        return;
    thread->lookups[thread->lookup_count++] = (struct ew_process_lookup){
        .directory = walk->directory,
        .name = text_number(name, length),
        .found = found,
        .path = walk->path,
        .flags = (last ? LOOKUP_LAST : 0) | (walk->in_root ? LOOKUP_IN_ROOT : 0)};
}

static void cut_gone(struct walk *walk, size_t length) {
    walk->gone_length = length;
    walk->gone[length] = '\0';
}

static bool go_to_root(struct walk *walk) {
    cut_gone(walk, 0);
    walk->in_root = true;
    return shared_root(walk->thread, &walk->base, &walk->directory);
}

// /proc/self leads each process to its own entry; asked by us, to ours.
static bool is_self(const struct walk *walk, const char *name) {
    struct statfs system;
    if (strcmp(name, "self") != 0 && strcmp(name, "thread-self") != 0)
        return false;
    int link = openat(walk->base, walk->gone, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool is = link >= 0 && fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
    if (link >= 0)
        close(link);
    return is;
}

static ssize_t link_target(const struct walk *walk, const char *name, uint32_t link, char *target) {
    const struct thread *thread = walk->thread;
    if (!is_self(walk, name))
        return entry_link(link, walk->base, walk->gone, target, PATH_MAX - 1);
    if (name[0] == 's')
        return snprintf(target, PATH_MAX, "%d", (int)thread->process);
    return snprintf(target, PATH_MAX, "%d/task/%d", (int)thread->process, (int)thread->id);
}

// What the link says comes before what is left of the path. `before`: length of the way to it.
static bool follow_link(struct walk *walk, const char *name, uint32_t link, size_t before,
                        const char *rest) {
    char target[PATH_MAX], joined[sizeof walk->rest];
    ssize_t length = link_target(walk, name, link, target);
    if (length <= 0 || ++walk->links > LINKS_MAX)
        return false;
    target[length] = '\0';
    int size = snprintf(joined, sizeof joined, "%s%s%s", target, *rest ? "/" : "", rest);
    if (size < 0 || (size_t)size >= sizeof joined)
        return false;
    strcpy(walk->rest, joined);
    cut_gone(walk, before);
    return target[0] != '/' || go_to_root(walk);
}

// One part of the path. False when the walk is over.
static bool step(struct walk *walk) {
    char *name = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(name, "/"), before = walk->gone_length;
    const char *rest = name + length + strspn(name + length, "/");
    if (!length || length > NAME_MAX || before + length + 2 > sizeof walk->gone)
        return false;
    char part[NAME_MAX + 1];
    memcpy(part, name, length);
    part[length] = '\0';
    bool stays = strcmp(part, ".") == 0, up = strcmp(part, "..") == 0;
    bool is_last = !*rest;
    if (up && walk->in_root) { // there is nothing above
        memmove(walk->rest, rest, strlen(rest) + 1);
        return !is_last;
    }
    if (before)
        walk->gone[walk->gone_length++] = '/';
    memcpy(walk->gone + walk->gone_length, part, length + 1);
    walk->gone_length += length;
    struct entry_found found;
    bool there = entry_find(
        &(struct entry_asked){walk->directory, part, length, walk->base, walk->gone, is_last},
        &found);
    if (!stays && !up)
        note(walk, part, length, there ? found.object : 0, is_last);
    if (!there)
        return false;
    if (S_ISLNK(found.mode)) {
        if (!is_last || walk->follow)
            return follow_link(walk, part, found.object, before, rest);
        return false;
    }
    walk->directory = found.object;
    walk->in_root = walk->in_root && stays;
    memmove(walk->rest, rest, strlen(rest) + 1);
    return !is_last && S_ISDIR(found.mode);
}

static uint32_t how_it_is_opened(const struct thread *thread) {
    const uint64_t *arguments = &thread->call.a0;
    for (int i = 0; i < ARGUMENTS; i++)
        if (thread->shape->takes[i] == TAKES_OPEN_FLAGS)
            return (uint32_t)arguments[i] * SPREAD;
    return 0;
}

static void note_path(struct thread *thread, const char *path) {
    size_t length = strlen(path);
    while (length && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start && path[start - 1] != '/')
        start--;
    thread->call.value = text_number(path, strlen(path));
    thread->name = (uint32_t)hash_of(path + start, length - start) ^ how_it_is_opened(thread);
}

// A path that is not from the root begins at a directory of the call, or at that of the process.
static bool begin_at(struct walk *walk, int directory) {
    if (!shared_start(walk->thread, directory, walk->path, &walk->base, walk->gone,
                      sizeof walk->gone, &walk->directory))
        return false;
    walk->gone_length = strlen(walk->gone);
    return true;
}

// Where `rest` leads to.
static void go(struct walk *walk, struct thread *thread, uint32_t path, int directory,
               bool follow) {
    if (thread->brief)
        return;
    walk->thread = thread;
    walk->path = path;
    walk->follow = follow;
    walk->in_root = false;
    walk->links = 0;
    cut_gone(walk, 0);
    if (walk->rest[0] == '/' ? go_to_root(walk) : begin_at(walk, directory))
        while (step(walk))
            ;
}

static void take_path(struct thread *thread, uint32_t path, int directory, uint64_t address,
                      bool follow) {
    struct walk walk; // large: only what is needed is set
    ssize_t length = address ? memory_text(thread->id, address, walk.rest, PATH_MAX) : 0;
    if (length == 0 && path == 0 && directory != AT_FDCWD) // about the descriptor itself
        thread->call.object = shared_object(thread, directory, &thread->mode);
    if (length <= 0)
        return;
    if (path == 0)
        note_path(thread, walk.rest);
    go(&walk, thread, path, directory, follow);
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

// A socket that has a name in a directory: bind makes it, connect looks for it.
void lookups_take_socket(struct thread *thread, const struct sockaddr_un *address, size_t length) {
    struct walk walk; // large: only what is needed is set
    size_t begins = offsetof(struct sockaddr_un, sun_path);
    if (length <= begins || address->sun_family != AF_UNIX || !address->sun_path[0])
        return;
    length = strnlen(address->sun_path, length - begins);
    memcpy(walk.rest, address->sun_path, length);
    walk.rest[length] = '\0';
    go(&walk, thread, 0, AT_FDCWD, thread->call.number != SYS_bind);
}
