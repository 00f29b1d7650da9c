// SPDX-License-Identifier: Apache-2.0
// What is remembered of files and directories, and asked of them where nobody has told of them.
// Records come a moment after their calls, and then paths are walked as lookups.c does it; this
// answers its questions.
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
#include "entries.h"

enum { KERNEL_MINOR_BITS = 20, FIRST_ROOM = 4096 };
// In a directory that nobody can find any more, the calls alone tell what there was.
#define NOWHERE (-1)

static const struct seen *record; // that is being taken
static int root;
static uint32_t root_object;
static uint64_t unknown, looked;

void *with_room(void *list, size_t *room, size_t place, size_t size) {
    size_t wanted = *room ? *room : FIRST_ROOM;
    if (place < *room)
        return list;
    while (place >= wanted)
        wanted *= 2;
    list = realloc(list, wanted * size);
    if (!list)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    memset((char *)list + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return list;
}

// ---- objects

static struct stat status_of(const struct seen_inode *inode) {
    unsigned minor = inode->device & ((1u << KERNEL_MINOR_BITS) - 1);
    return (struct stat){.st_dev = makedev(inode->device >> KERNEL_MINOR_BITS, minor),
                         .st_ino = inode->number,
                         .st_mode = inode->mode,
                         .st_nlink = 1};
}

// Most calls are about what one of the last was about.
uint32_t object_of_seen(const struct seen_inode *inode) {
    static struct {
        struct seen_inode inode;
        uint32_t object;
    } last[256], *at;
    if (!inode->device)
        return 0;
    at = &last[(inode->number ^ inode->device) % 256];
    if (at->inode.number != inode->number || at->inode.device != inode->device) {
        struct stat status = status_of(inode);
        at->inode = *inode;
        at->object = object_of(&status);
    }
    return at->object;
}

// ---- their types

static mode_t *modes; // by object
static size_t modes_room;
static dev_t proc;
#define CHANGES_BY_ITSELF (1u << 31) // beside the type: no call tells of what is made in /proc

mode_t mode_of(uint32_t object) {
    return object < modes_room ? modes[object] & ~CHANGES_BY_ITSELF : 0;
}

void mode_set(uint32_t object, mode_t mode) {
    modes = with_room(modes, &modes_room, object, sizeof *modes);
    modes[object] = mode | (modes[object] & CHANGES_BY_ITSELF);
}

uint32_t object_that_was(mode_t mode) {
    static ino_t count;
    uint32_t object = object_of(&(struct stat){.st_ino = ++count, .st_mode = mode, .st_nlink = 1});
    mode_set(object, mode);
    return object;
}

// ---- where directories are: their ways from the root

static char **ways; // by object
static size_t ways_room;
static uint32_t moved; // how often one was, or was found elsewhere

void way_set(uint32_t object, const char *way) {
    ways = with_room(ways, &ways_room, object, sizeof *ways);
    if (ways[object] && strcmp(ways[object], way) == 0)
        return;
    moved += ways[object] != NULL;
    free(ways[object]);
    ways[object] = strdup(way);
}

uint32_t ways_moved(void) {
    return moved;
}

void ways_move(void) {
    moved++;
}

const char *way_of(uint32_t object) {
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
    targets = with_room(targets, &targets_room, number, sizeof *targets);
    return &targets[number];
}

void target_set(uint32_t object, const char *text) {
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

uint32_t entry_number(uint32_t directory, uint32_t name) {
    uint32_t key[2] = {directory, name};
    bool is_new;
    uint32_t number = numbering_of(&entries, key, sizeof key, &is_new);
    found_in = with_room(found_in, &entries_room, number, sizeof *found_in);
    if (is_new)
        found_in[number] = NOT_KNOWN;
    return number;
}

uint32_t *entry_remembered(uint32_t number) {
    return &found_in[number];
}

static struct entry_found found_by(const struct stat *status) {
    uint32_t object = object_of(status);
    mode_set(object, status->st_mode | (status->st_dev == proc ? CHANGES_BY_ITSELF : 0));
    return (struct entry_found){object, status->st_mode};
}

// As it is by now, a moment later.
static bool look_now(const struct entry_asked *asked, struct entry_found *found) {
    struct stat status;
    looked += !(asked->last && record->result == -ENOENT); // what is there by now came later
    if (fstatat(asked->base, asked->way, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *found = found_by(&status);
    return true;
}

bool changes_by_itself(uint32_t directory) {
    return directory < modes_room && modes[directory] & CHANGES_BY_ITSELF;
}

// A directory that the call has gone through was there, though it may be gone.
static bool went_through(const struct entry_asked *asked) {
    return !asked->last && record->result != -ENOENT && record->result != -ENOTDIR;
}

// ---- directories that a path has come through

static struct through {
    uint32_t object, in; // that directory
} through[LOOKUPS_MAX];
static size_t through_count;

static void go_through(uint32_t object, uint32_t directory) {
    if (through_count < LOOKUPS_MAX)
        through[through_count++] = (struct through){object, directory};
}

// "." and ".." are no entries: a path that goes through them stays, or goes back to where it came
// from; but one that begins with ".." must be looked at.
static bool find_by_dots(const struct entry_asked *asked, struct entry_found *found) {
    bool up = asked->length == 2;
    size_t at = through_count;
    while (up && at && through[at - 1].object != asked->directory)
        at--;
    *found = (struct entry_found){up && at ? through[at - 1].in : asked->directory, S_IFDIR};
    if (up ? at != 0 : record->result != -ENOTDIR)
        return true;
    if (look_now(asked, found))
        return true;
    if (went_through(asked))
        *found = (struct entry_found){object_that_was(S_IFDIR), S_IFDIR};
    return went_through(asked);
}

static uint64_t how_opened(void) {
    const struct call_shape *shape = call_shape_of(record->number);
    for (int i = 0; i < ARGUMENTS; i++)
        if (shape->takes[i] == TAKES_OPEN_FLAGS)
            return record->arguments[i];
    return 0;
}

// The call itself made it, and followed no link to it.
static bool is_made_by_call(const struct entry_asked *asked) {
    return asked->last && record->created && how_opened() & (O_EXCL | O_NOFOLLOW);
}

// The call itself says what it has found, and followed no link to it: see take_status.
static bool is_told_by_call(const struct entry_asked *asked, struct entry_found *found) {
    if (!asked->last || record->number != SYS_newfstatat || !record->given.device)
        return false;
    struct stat status = status_of(&record->given);
    *found = found_by(&status);
    return true;
}

// What calls have told of an entry holds; what nobody has told of is looked at.
bool entry_find(const struct entry_asked *asked, struct entry_found *found) {
    if (strcmp(asked->name, ".") == 0 || strcmp(asked->name, "..") == 0)
        return find_by_dots(asked, found);
    uint32_t name = text_number(asked->name, asked->length);
    uint32_t *known = entry_remembered(entry_number(asked->directory, name));
    bool was_there = went_through(asked), told = *known != NOT_KNOWN;
    bool by_itself = changes_by_itself(asked->directory);
    bool is_new = asked->last && record->result >= 0 && makes_directory(record->number);
    if (told && !by_itself && (*known || !(was_there || is_new))) {
        *found = (struct entry_found){*known, *known ? mode_of(*known) : 0};
        if (S_ISDIR(found->mode))
            go_through(*known, asked->directory);
        return *known;
    }
    bool there =
        is_told_by_call(asked, found) || (!is_made_by_call(asked) && look_now(asked, found));
    if (there && was_there && !S_ISDIR(found->mode) && !S_ISLNK(found->mode))
        there = false; // it has another's place
    if (!there && was_there) {
        uint32_t object = told && *known ? *known : object_that_was(S_IFDIR);
        mode_set(object, S_IFDIR | (by_itself ? CHANGES_BY_ITSELF : 0));
        *found = (struct entry_found){object, S_IFDIR};
        there = true;
    }
    if (!asked->last) // of the last one the call decides
        *known = there ? found->object : 0;
    if (there && S_ISDIR(found->mode))
        go_through(found->object, asked->directory);
    return there;
}

// ---- answers to lookups.c

static unsigned paths_asked; // of the call: it asks for one after the other

ssize_t memory_text(pid_t thread, uint64_t address, char *to, size_t size) {
    (void)thread, (void)address;
    size_t start = paths_asked ? record->length[0] : 0;
    size_t length = record->length[paths_asked++ & 1];
    if (!length || length > size || is_cut(length)) {
        unknown += record->result != -EFAULT && record->result != -ENAMETOOLONG;
        return -1;
    }
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
    *object = object_of_seen(&record->directory[path & 1]);
    const char *known = way_of(*object);
    if (!known)
        known = way_asked(thread->id, directory, *object);
    bool reached = known && strlen(known) < size;
    *base = reached ? root : NOWHERE;
    strcpy(way, reached ? known : "");
    unknown += !*object;
    return *object != 0;
}

void entries_ask_about(const struct seen *seen) {
    record = seen;
    paths_asked = 0;
    through_count = 0;
}

void entries_begin(void) {
    walks_begin();
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

uint64_t entries_looked(void) {
    return looked;
}

uint64_t entries_unknown(void) {
    return unknown;
}
