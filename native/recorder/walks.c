// SPDX-License-Identifier: Apache-2.0
// The same call with the same path from the same directory goes the same way, as long as each entry
// on it leads to what it led to, and no directory was moved: that is where "..", which is no entry
// here, would lead elsewhere. What changes without a call is not kept, and most ways are gone once:
// one is kept when it is gone a second time. Where hardly any is, as when a tree is packed, most
// are not even looked for.
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

// Whole words: what was written in halves and is read as a whole must be waited for.
struct walk_head {
    uint64_t call, starts, lengths; // number and flags; two halves, one for each path
};

struct walk_key {
    struct walk_head head;
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

static uint64_t start_of(const struct seen *seen, int path, size_t at) {
    if (!seen->length[path] || seen->text[at] == '/')
        return 0;
    return object_of_seen(&seen->directory[path]);
}

static struct walk_head head_of(const struct seen *seen) {
    uint32_t flags = 0, first = seen->length[0];
    for (unsigned left = sorts[seen->number].flags; left; left &= left - 1)
        flags = flags * SPREAD + (uint32_t)seen->arguments[__builtin_ctz(left)];
    return (struct walk_head){seen->number | (uint64_t)flags << 32,
                              start_of(seen, 0, 0) | start_of(seen, 1, first) << 32,
                              first | (uint64_t)seen->length[1] << 32};
}

static uint64_t mixed(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t word_at(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

// Behind the text there is more of the record: its last word is read as a whole.
static uint32_t hash_of_walk(const struct walk_head *head, const char *text, size_t length) {
    enum { WORD = sizeof(uint64_t) };
    uint64_t hash = mixed(1, head->call) + mixed(2, head->starts) + mixed(3, head->lengths);
    for (; length > WORD; text += WORD, length -= WORD)
        hash = mixed(hash, word_at(text));
    hash = mixed(hash, word_at(text) << 8 * (WORD - length));
    return (uint32_t)(mixed(hash, 0) >> 32);
}

// Of those with this hash, the last: small, and forgets. Who was here and is not known any more is
// taken for new.
static struct last {
    uint32_t hash, number; // 0: it was here once
} here[1 << 14];

static bool is_walk(uint32_t number, const struct walk_head *head, const char *text,
                    size_t length) {
    const char *key = numbering_key(&walk_keys, number);
    return !memcmp(key, head, sizeof *head) && !memcmp(key + sizeof *head, text, length);
}

static uint32_t new_number(uint32_t hash, const struct walk_head *head, const char *text,
                           size_t length) {
    struct walk_key key; // large: only what is needed is set
    bool is_new;
    key.head = *head;
    memcpy(key.text, text, length);
    return numbering_of_hash(&walk_keys, hash, &key, sizeof *head + length, &is_new);
}

// Looked for, and found, since that was last thought about; and how many are to be let pass.
static struct {
    uint32_t looked, found, pass;
} lately;

static bool is_worth_looking(void) {
    enum { MANY = 256, FEW = MANY / 8, PASS = 8 * MANY };
    if (lately.pass) {
        lately.pass--;
        return false;
    }
    if (++lately.looked == MANY) {
        lately.pass = lately.found < FEW ? PASS : 0;
        lately.looked = lately.found = 0;
    }
    return true;
}

uint32_t walk_number(const struct seen *seen) {
    size_t length = (size_t)seen->length[0] + seen->length[1];
    if (!seen->length[0] || is_cut(seen->length[0]) || is_cut(seen->length[1]))
        return 0;
    if (!is_worth_looking())
        return 0;
    struct walk_head head = head_of(seen);
    uint32_t hash = hash_of_walk(&head, seen->text, length);
    struct last *at = &here[hash % (sizeof here / sizeof *here)];
    if (at->hash != hash) {
        *at = (struct last){hash, 0};
        return 0;
    }
    if (!at->number || !is_walk(at->number, &head, seen->text, length))
        at->number = new_number(hash, &head, seen->text, length);
    return at->number;
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
    lately.found++;
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
