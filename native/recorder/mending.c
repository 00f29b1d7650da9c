// SPDX-License-Identifier: Apache-2.0
// What the paths of a call led to before it. They are walked when it is over: what the call itself
// has changed is known from its result.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "../tracer/call_table.h"
#include "entries.h"

static struct ew_process_lookup *last_of(struct thread *thread, uint32_t path) {
    for (size_t i = thread->lookup_count; i > 0; i--) {
        struct ew_process_lookup *lookup = &thread->lookups[i - 1];
        if (lookup->path == path && lookup->flags & LOOKUP_LAST)
            return lookup;
    }
    return NULL;
}

static uint32_t *remembered(const struct ew_process_lookup *lookup) {
    return entry_remembered(entry_number(lookup->directory, lookup->name));
}

bool makes_directory(uint64_t number) {
    return number == SYS_mkdir || number == SYS_mkdirat;
}

static bool makes_link(uint64_t number) {
    return number == SYS_symlink || number == SYS_symlinkat;
}

static bool makes(uint64_t number) {
    return makes_directory(number) || makes_link(number) || number == SYS_mknod ||
           number == SYS_mknodat || number == SYS_bind;
}

// What is there by now may be another, that came later.
static bool may_have_made(uint64_t number, uint32_t object) {
    mode_t mode = mode_of(object);
    return object && S_ISDIR(mode) == makes_directory(number) &&
           S_ISLNK(mode) == makes_link(number);
}

static bool removes(uint64_t number) {
    return number == SYS_unlink || number == SYS_unlinkat || number == SYS_rmdir;
}

static bool renames(uint64_t number) {
    return number == SYS_rename || number == SYS_renameat || number == SYS_renameat2;
}

static uint32_t was_there(const struct ew_process_lookup *lookup) {
    uint32_t object = *remembered(lookup);
    return object && object != NOT_KNOWN ? object : object_that_was(S_IFREG);
}

// By now the new entry leads to what the old one led to.
static void mend_rename(struct ew_process_lookup *from, struct ew_process_lookup *to) {
    bool not_known = *remembered(to) == NOT_KNOWN;
    if (!from->found)
        from->found = not_known && to->found ? to->found : was_there(from);
    if (not_known)
        to->found = 0;
    *remembered(from) = 0;
    *remembered(to) = from->found;
    if (S_ISDIR(mode_of(from->found)))
        ways_move();
}

static void made_link(uint32_t *after, const struct seen *seen) {
    if (*after == NOT_KNOWN)
        *after = object_that_was(S_IFLNK);
    if (seen->length[1] && !is_cut(seen->length[1]))
        target_set(*after, seen->text + seen->length[0]);
}

// One entry that the call made, removed or found: as it was before, and what it is after.
static void mend(struct ew_process_lookup *last, const struct seen *seen, bool new_link) {
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
        bool not_told = *after == NOT_KNOWN || !*after;
        *after = not_told && may_have_made(seen->number, last->found) ? last->found : NOT_KNOWN;
        if (makes_link(seen->number))
            made_link(after, seen);
        else if (*after == NOT_KNOWN && makes_directory(seen->number)) // and gone by now
            *after = object_that_was(S_IFDIR);
        else if (*after == NOT_KNOWN && seen->number == SYS_bind)
            *after = object_that_was(S_IFSOCK);
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

// Links that a path ended with, and that were followed: the call decides of what they led to.
static void keep_links(const struct thread *thread) {
    for (size_t i = 0; i + 1 < thread->lookup_count; i++) {
        const struct ew_process_lookup *lookup = &thread->lookups[i], *next = lookup + 1;
        if (lookup->flags & LOOKUP_LAST && next->path == lookup->path && lookup->found)
            *remembered(lookup) = lookup->found;
    }
}

static bool leads_to_directory(const struct seen *seen) {
    return S_ISDIR(seen->given.mode) || seen->number == SYS_chdir;
}

static void learn_ways(const struct thread *thread, const struct seen *seen) {
    char way[PATH_MAX];
    for (size_t i = 0; i < thread->lookup_count; i++) {
        const struct ew_process_lookup *lookup = &thread->lookups[i];
        const char *start = lookup->flags & LOOKUP_IN_ROOT ? "" : way_of(lookup->directory);
        if (!start || !lookup->found || (lookup->flags & LOOKUP_LAST && !leads_to_directory(seen)))
            continue;
        const char *name = text_of_number(lookup->name);
        size_t before = strlen(start), length = strlen(name);
        if (before + length + 2 > sizeof way)
            continue;
        memcpy(way, start, before);
        way[before] = '/';
        memcpy(way + before + (before != 0), name, length + 1);
        way_set(lookup->found, way);
    }
}

// What it found holds: nothing is learned of it.
static bool finds_the_same(const struct thread *thread, const struct seen *seen) {
    const struct ew_process_lookup *last = &thread->lookups[thread->lookup_count - 1];
    bool looks =
        !makes(seen->number) && !removes(seen->number) && !seen->given.device && !seen->length[1];
    return looks && !last->found == (seen->result == -ENOENT);
}

static void mend_all(struct thread *thread, const struct seen *seen) {
    struct ew_process_lookup *first = last_of(thread, 0), *second = last_of(thread, 1);
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

// A name of a socket is in no argument, but in its address; few are looked for, so none is kept.
static void take_socket(struct thread *thread, const struct seen *seen) {
    struct sockaddr_un address;
    size_t length = seen->length[0] < sizeof address ? seen->length[0] : sizeof address;
    memcpy(&address, seen->text, length);
    entries_ask_about(seen);
    lookups_take_socket(thread, &address, length);
    learn_ways(thread, seen);
    mend_all(thread, seen);
}

// A call with one path, and that is empty: it is about a descriptor itself, and goes nowhere.
static bool is_about_descriptor(const struct seen *seen, uint32_t paths) {
    return paths == 1 && seen->length[0] == 1;
}

static void take_descriptor(struct thread *thread, const struct seen *seen) {
    for (int i = 0; i < ARGUMENTS; i++)
        if (thread->shape->takes[i] == TAKES_DIRECTORY && (int)seen->arguments[i] != AT_FDCWD) {
            thread->call.object = object_of_seen(&seen->directory[0]);
            thread->mode = seen->directory[0].mode;
        }
}

void entries_take(struct thread *thread, const struct seen *seen) {
    uint32_t paths = path_count(seen->number);
    thread->lookup_count = 0;
    if (seen->number == SYS_bind || seen->number == SYS_connect)
        take_socket(thread, seen);
    if (!paths)
        return;
    if (is_about_descriptor(seen, paths)) {
        take_descriptor(thread, seen);
        return;
    }
    uint32_t number = walk_number(seen);
    bool again = number && walk_again(thread, number, seen);
    if (!again) {
        entries_ask_about(seen);
        lookups_take(thread);
    }
    struct ew_process_lookup *last = leads_to_directory(seen) ? last_of(thread, 0) : NULL;
    if (last && seen->result >= 0 && seen->given.device)
        last->found = object_of_seen(&seen->given); // it may be gone, or elsewhere, by now
    if (!again || last)
        learn_ways(thread, seen);
    if (!again || !finds_the_same(thread, seen))
        mend_all(thread, seen);
    if (number && !again) {
        keep_links(thread);
        walk_keep(thread, number);
    }
}
