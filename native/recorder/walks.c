// SPDX-License-Identifier: Apache-2.0
// The same call with the same path from the same directory goes the same way, as long as each entry
// on it leads to what it led to, and no directory was moved: that is where "..", which is no entry
// here, would lead elsewhere. What changes without a call is not kept, and most ways are gone once:
// one is kept when it is gone a second time.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../tracer/call_table.h"
#include "../tracer/numbering.h"
#include "entries.h"

struct walked {
    uint32_t moved, value; // as ways_moved was; of the call
    bool broken;           // off, at a part that was not there
    size_t count;
    struct {
        uint32_t entry;
        struct ew_process_lookup lookup;
    } parts[];
};

static struct numbering walk_keys;
static struct walked **walks;
static size_t walks_room;

struct walk_key {
    uint32_t number, flags, starts[2], lengths[2];
    char text[2 * SEEN_PATH];
};

// What a call takes, as far as its ways are concerned.
struct sort {
    unsigned char paths, flags; // how many; which arguments, a bit for each
};

static struct sort sort_of(const struct call_shape *shape) {
    struct sort sort = {0};
    for (int i = 0; i < ARGUMENTS; i++) {
        unsigned takes = shape->takes[i];
        sort.paths += takes == TAKES_PATH || takes == TAKES_LINK || takes == TAKES_NEW_PATH;
        if (takes == TAKES_AT_FLAGS || takes == TAKES_OPEN_FLAGS)
            sort.flags |= (unsigned char)(1 << i);
    }
    return sort;
}

static struct sort sorts[CALL_NUMBERS];

void walks_begin(void) {
    for (uint32_t i = 0; i < CALL_NUMBERS; i++)
        if (call_shape_of(i))
            sorts[i] = sort_of(call_shape_of(i));
}

uint32_t path_count(uint32_t number) {
    return sorts[number].paths;
}

// Small, and forgets: who was here and is not known any more is taken for new.
static bool was_here(uint32_t hash) {
    static uint32_t last[1 << 14];
    uint32_t *at = &last[hash % (sizeof last / sizeof *last)];
    bool was = *at == hash;
    *at = hash;
    return was;
}

uint32_t walk_number(const struct seen *seen) {
    struct walk_key key; // large: only what is needed is set
    memset(&key, 0, offsetof(struct walk_key, text));
    size_t length = 0;
    if (!seen->length[0] || is_cut(seen->length[0]) || is_cut(seen->length[1]))
        return 0;
    key.number = seen->number;
    for (unsigned left = sorts[seen->number].flags; left; left &= left - 1)
        key.flags = key.flags * SPREAD + (uint32_t)seen->arguments[__builtin_ctz(left)];
    for (int i = 0; i < 2; i++) {
        const char *path = seen->text + length;
        if (!seen->length[i])
            continue;
        key.starts[i] = path[0] == '/' ? 0 : object_of_seen(&seen->directory[i]);
        key.lengths[i] = seen->length[i];
        length += seen->length[i];
    }
    if (length > sizeof key.text)
        return 0;
    memcpy(key.text, seen->text, length);
    length += offsetof(struct walk_key, text);
    uint32_t hash = numbering_hash(&key, length);
    bool is_new;
    return was_here(hash) ? numbering_of_hash(&walk_keys, hash, &key, length, &is_new) : 0;
}

static bool walk_holds(const struct walked *walked, const struct seen *seen) {
    if (!walked || walked->moved != ways_moved() || (walked->broken && seen->result != -ENOENT))
        return false;
    for (size_t i = 0; i < walked->count; i++)
        if (*entry_remembered(walked->parts[i].entry) != walked->parts[i].lookup.found)
            return false;
    return true;
}

bool walk_again(struct thread *thread, uint32_t number, const struct seen *seen) {
    walks = with_room(walks, &walks_room, number, sizeof(struct walked *));
    const struct walked *walked = walks[number];
    if (!walk_holds(walked, seen))
        return false;
    thread->call.value = walked->value;
    thread->lookup_count = walked->count;
    for (size_t i = 0; i < walked->count; i++)
        thread->lookups[i] = walked->parts[i].lookup;
    return true;
}

// What was found is what will be found there next time: as the call has left it.
static bool keep_part(const struct ew_process_lookup *lookup, struct walked *to, size_t at) {
    uint32_t entry = entry_number(lookup->directory, lookup->name);
    uint32_t found = *entry_remembered(entry);
    bool other_link = found != lookup->found && S_ISLNK(mode_of(found));
    if (found == NOT_KNOWN || other_link || changes_by_itself(lookup->directory))
        return false;
    to->parts[at].entry = entry;
    to->parts[at].lookup = *lookup;
    to->parts[at].lookup.found = found;
    return true;
}

// Each of its paths was walked to its end, or to a part that was not there.
static bool is_whole(const struct thread *thread, bool *broken) {
    uint32_t ends = 0, paths = path_count(thread->call.number);
    *broken = false;
    for (size_t i = 0; i < thread->lookup_count; i++) {
        const struct ew_process_lookup *lookup = &thread->lookups[i];
        bool last = lookup->flags & LOOKUP_LAST;
        *broken = *broken || (!last && !lookup->found);
        if (last || !lookup->found)
            ends |= 1u << lookup->path;
    }
    return ends == (1u << paths) - 1 && thread->lookup_count < LOOKUPS_MAX;
}

void walk_keep(const struct thread *thread, uint32_t number) {
    size_t count = thread->lookup_count;
    bool broken;
    if (!is_whole(thread, &broken))
        return;
    free(walks[number]);
    struct walked *walked = walks[number] = malloc(sizeof *walked + count * sizeof *walked->parts);
    if (!walked)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    *walked = (struct walked){ways_moved(), (uint32_t)thread->call.value, broken, count};
    for (size_t i = 0; i < count; i++)
        if (!keep_part(&thread->lookups[i], walked, i)) {
            free(walked);
            walks[number] = NULL;
            return;
        }
}
