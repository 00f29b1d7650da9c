// SPDX-License-Identifier: Apache-2.0
// What paths led to. Records come a moment after their calls, and then the files are looked at as
// lookups.c does it; this answers its questions from the record. What the call itself has changed
// is known from its result, and what earlier calls found is remembered.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../tracer/call_table.h"
#include "../tracer/numbering.h"
#include "recorder.h"

enum { KERNEL_MINOR_BITS = 20, FIRST_ROOM = 4096 };
enum { NOT_KNOWN = UINT32_MAX };

static const struct seen *record; // that is being taken
static int root;
static uint32_t root_object;
static uint64_t unknown;

static void *grown(void *list, size_t count, size_t size) {
    void *longer = realloc(list, count * size);
    if (!longer)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    return longer;
}

// ---- objects

static struct stat status_of(const struct seen_inode *inode) {
    unsigned minor = inode->device & ((1u << KERNEL_MINOR_BITS) - 1);
    return (struct stat){.st_dev = makedev(inode->device >> KERNEL_MINOR_BITS, minor),
                         .st_ino = inode->number,
                         .st_mode = inode->mode,
                         .st_nlink = 1};
}

uint32_t object_of_seen(const struct seen_inode *inode) {
    struct stat status = status_of(inode);
    return inode->device ? object_of(&status) : 0;
}

// ---- their types

static mode_t *modes; // by object
static size_t modes_room;
static dev_t proc;
#define CHANGES_BY_ITSELF (1u << 31) // beside the type: no call tells of what is made in /proc

static void mode_set(uint32_t object, mode_t mode) {
    if (object >= modes_room) {
        size_t room = modes_room ? modes_room : FIRST_ROOM;
        while (object >= room)
            room *= 2;
        modes = grown(modes, room, sizeof *modes);
        memset(modes + modes_room, 0, (room - modes_room) * sizeof *modes);
        modes_room = room;
    }
    modes[object] = mode | (modes[object] & CHANGES_BY_ITSELF);
}

// A file that was there and is gone, and that nobody has told of.
static uint32_t object_that_was(mode_t mode) {
    static ino_t count;
    uint32_t object = object_of(&(struct stat){.st_ino = ++count, .st_mode = mode, .st_nlink = 1});
    mode_set(object, mode);
    return object;
}

// ---- where directories are: their ways from the root

static char **ways; // by object
static size_t ways_room;

static void way_set(uint32_t object, const char *way) {
    if (object >= ways_room) {
        size_t room = ways_room ? ways_room : FIRST_ROOM;
        while (object >= room)
            room *= 2;
        ways = grown(ways, room, sizeof *ways);
        memset(ways + ways_room, 0, (room - ways_room) * sizeof *ways);
        ways_room = room;
    }
    if (ways[object] && strcmp(ways[object], way) == 0)
        return;
    free(ways[object]);
    ways[object] = strdup(way);
}

static const char *way_of(uint32_t object) {
    return object < ways_room ? ways[object] : NULL;
}

// The thread may be gone, or somewhere else by now: then another directory is there.
static const char *way_asked(pid_t thread, int directory, uint32_t object) {
    char path[64], way[PATH_MAX];
    struct stat status;
    if (directory == AT_FDCWD)
        snprintf(path, sizeof path, "/proc/%d/cwd", (int)thread);
    else
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)thread, directory);
    ssize_t length = readlink(path, way, sizeof way - 1);
    if (length <= 0 || way[0] != '/')
        return NULL;
    way[length] = '\0';
    if (stat(way, &status) < 0 || object_of(&status) != object)
        return NULL;
    way_set(object, way + 1);
    return way_of(object);
}

// ---- what links say

static struct numbering links; // by object
static char **targets;
static size_t targets_room;

static char **target_of(uint32_t object) {
    bool is_new;
    uint32_t number = numbering_of(&links, &object, sizeof object, &is_new);
    if (number >= targets_room) {
        targets_room = targets_room ? 2 * targets_room : FIRST_ROOM;
        targets = grown(targets, targets_room, sizeof *targets);
    }
    if (is_new)
        targets[number] = NULL;
    return &targets[number];
}

static void target_set(uint32_t object, const char *text) {
    char **target = target_of(object);
    free(*target);
    *target = strdup(text);
}

ssize_t entry_link(uint32_t object, int base, const char *way, char *target, size_t size) {
    const char *known = *target_of(object);
    if (!known) {
        ssize_t length = readlinkat(base, way, target, size);
        if (length > 0 && !(modes[object] & CHANGES_BY_ITSELF)) {
            target[length] = '\0';
            target_set(object, target);
        }
        return length;
    }
    snprintf(target, size, "%s", known);
    return (ssize_t)strlen(target);
}

// ---- what is remembered of entries

static struct numbering entries; // by directory and name
static uint32_t *found_in;       // by number of the entry: the object, 0 for none, or NOT_KNOWN
static size_t entries_room;

static uint32_t *remembered_of(uint32_t directory, uint32_t name) {
    uint32_t key[2] = {directory, name};
    bool is_new;
    uint32_t number = numbering_of(&entries, key, sizeof key, &is_new);
    if (number >= entries_room) {
        entries_room = entries_room ? 2 * entries_room : FIRST_ROOM;
        found_in = grown(found_in, entries_room, sizeof *found_in);
    }
    if (is_new)
        found_in[number] = NOT_KNOWN;
    return &found_in[number];
}

static uint32_t *remembered(const struct lookup *lookup) {
    return remembered_of(lookup->directory, lookup->name);
}

// As it is by now, a moment later.
static bool look_now(const struct entry_asked *asked, struct entry_found *found) {
    struct stat status;
    if (fstatat(asked->base, asked->way, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *found = (struct entry_found){object_of(&status), status.st_mode};
    mode_set(found->object, status.st_mode | (status.st_dev == proc ? CHANGES_BY_ITSELF : 0));
    return true;
}

static bool changes_by_itself(uint32_t directory) {
    return directory < modes_room && modes[directory] & CHANGES_BY_ITSELF;
}

// A directory that the call has gone through was there, though it may be gone.
static bool went_through(const struct entry_asked *asked) {
    return !asked->last && record->result != -ENOENT && record->result != -ENOTDIR;
}

// What calls have told of an entry holds; what nobody has told of is looked at.
bool entry_find(const struct entry_asked *asked, struct entry_found *found) {
    uint32_t *known = remembered_of(asked->directory, text_number(asked->name, asked->length));
    bool was_there = went_through(asked), told = *known != NOT_KNOWN;
    bool dots = strcmp(asked->name, ".") == 0 || strcmp(asked->name, "..") == 0;
    bool by_itself = changes_by_itself(asked->directory);
    if (told && !dots && !by_itself && (*known || !was_there)) {
        *found = (struct entry_found){*known, *known ? modes[*known] : 0};
        return *known;
    }
    bool there = look_now(asked, found);
    if (!there && was_there) {
        uint32_t object = told && *known ? *known : object_that_was(S_IFDIR);
        mode_set(object, S_IFDIR | (by_itself ? CHANGES_BY_ITSELF : 0));
        *found = (struct entry_found){object, S_IFDIR};
        there = true;
    }
    if (there && !asked->last && !dots)
        *known = found->object; // of the last one the call decides
    return there;
}

// ---- answers to lookups.c

static unsigned paths_asked; // of the call: it asks for one after the other

ssize_t memory_text(pid_t thread, uint64_t address, char *to, size_t size) {
    (void)thread, (void)address;
    size_t start = paths_asked ? record->length[0] : 0;
    size_t length = record->length[paths_asked++ & 1];
    if (!length || length > size)
        return -1;
    memcpy(to, record->text + start, length);
    to[length - 1] = '\0';
    return (ssize_t)length - 1;
}

uint32_t shared_object(struct thread *thread, int descriptor, mode_t *mode) {
    (void)thread, (void)descriptor;
    *mode = record->directory[0].mode;
    return object_of_seen(&record->directory[0]);
}

bool shared_root(struct thread *thread, int *descriptor, uint32_t *object) {
    (void)thread;
    *descriptor = root;
    *object = root_object;
    return true;
}

bool shared_start(struct thread *thread, int directory, uint32_t path, int *base, char *way,
                  size_t size, uint32_t *object) {
    *base = root;
    *object = object_of_seen(&record->directory[path & 1]);
    const char *known = way_of(*object);
    if (!known)
        known = way_asked(thread->id, directory, *object);
    if (!known || strlen(known) >= size) {
        unknown++;
        return false;
    }
    strcpy(way, known);
    return *object != 0;
}

// ---- before the call, and after it

static struct lookup *last_of(struct thread *thread, uint32_t path) {
    for (size_t i = thread->lookup_count; i > 0; i--) {
        struct lookup *lookup = &thread->lookups[i - 1];
        if (lookup->path == path && lookup->flags & LOOKUP_LAST)
            return lookup;
    }
    return NULL;
}

static bool makes(uint64_t number) {
    return number == SYS_mkdir || number == SYS_mkdirat || number == SYS_mknod ||
           number == SYS_mknodat || number == SYS_symlink || number == SYS_symlinkat;
}

static bool removes(uint64_t number) {
    return number == SYS_unlink || number == SYS_unlinkat || number == SYS_rmdir;
}

static bool renames(uint64_t number) {
    return number == SYS_rename || number == SYS_renameat || number == SYS_renameat2;
}

static uint32_t was_there(const struct lookup *lookup) {
    uint32_t object = *remembered(lookup);
    return object && object != NOT_KNOWN ? object : object_that_was(S_IFREG);
}

// By now the new entry leads to what the old one led to.
static void mend_rename(struct lookup *from, struct lookup *to) {
    bool not_known = *remembered(to) == NOT_KNOWN;
    if (!from->found)
        from->found = not_known && to->found ? to->found : was_there(from);
    if (not_known)
        to->found = 0;
    *remembered(from) = 0;
    *remembered(to) = from->found;
}

static void made_link(uint32_t *after, const struct seen *seen) {
    if (*after == NOT_KNOWN)
        *after = object_that_was(S_IFLNK);
    if (seen->length[1])
        target_set(*after, seen->text + seen->length[0]);
}

// One entry that the call made, removed or found: as it was before, and what it is after.
static void mend(struct lookup *last, const struct seen *seen, bool new_link) {
    bool worked = seen->result >= 0;
    uint32_t given = object_of_seen(&seen->given), *after = remembered(last);
    if (given)
        mode_set(given, seen->given.mode);
    if (!worked) {
        if (seen->result == -ENOENT)
            *after = last->found = 0;
        else if (last->found)
            *after = last->found;
    } else if (makes(seen->number) || new_link) {
        *after = *after == NOT_KNOWN && last->found ? last->found : NOT_KNOWN;
        if (seen->number == SYS_symlink || seen->number == SYS_symlinkat)
            made_link(after, seen);
        last->found = 0;
    } else if (removes(seen->number)) {
        last->found = last->found ? last->found : was_there(last);
        *after = 0;
    } else if (given && seen->created) {
        last->found = 0;
        *after = given;
    } else {
        if (given && !S_ISLNK(seen->given.mode))
            last->found = given;
        else if (!last->found)
            last->found = was_there(last);
        *after = last->found;
    }
}

static void learn_ways(struct thread *thread, const struct seen *seen) {
    char way[PATH_MAX];
    bool leads_to_directory = S_ISDIR(seen->given.mode) || seen->number == SYS_chdir;
    for (size_t i = 0; i < thread->lookup_count; i++) {
        const struct lookup *lookup = &thread->lookups[i];
        const char *start = lookup->flags & LOOKUP_IN_ROOT ? "" : way_of(lookup->directory);
        if (!start || !lookup->found || (lookup->flags & LOOKUP_LAST && !leads_to_directory))
            continue;
        const char *name = text_of_number(lookup->name);
        int size = snprintf(way, sizeof way, "%s%s%s", start, *start ? "/" : "", name);
        if (size > 0 && (size_t)size < sizeof way)
            way_set(lookup->found, way);
    }
}

void entries_take(struct thread *thread, const struct seen *seen) {
    record = seen;
    paths_asked = 0;
    lookups_take(thread);
    learn_ways(thread, seen);
    struct lookup *first = last_of(thread, 0), *second = last_of(thread, 1);
    if (renames(seen->number) && seen->result == 0 && first && second) {
        mend_rename(first, second);
        return;
    }
    if (first)
        mend(first, seen, false);
    bool links_both = seen->number == SYS_link || seen->number == SYS_linkat;
    if (second)
        mend(second, seen, links_both);
    if (second && first && links_both && seen->result == 0)
        *remembered(second) = first->found;
}

void entries_begin(void) {
    char here[PATH_MAX];
    struct stat status;
    root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || fstat(root, &status) < 0)
        die(EXIT_UNAVAILABLE, "there is no root directory: %s", strerror(errno));
    root_object = object_of(&status);
    way_set(root_object, "");
    if (stat("/proc", &status) == 0)
        proc = status.st_dev;
    if (getcwd(here, sizeof here) && stat(here, &status) == 0)
        way_set(object_of(&status), here + 1);
}

uint64_t entries_unknown(void) {
    return unknown;
}
