// SPDX-License-Identifier: Apache-2.0
// What is remembered of entries of directories, by what calls have told of them.
#ifndef EITHERWAY_ENTRIES_H
#define EITHERWAY_ENTRIES_H

#include "recorder.h"

enum { NOT_KNOWN = UINT32_MAX };

// A list that has this place, with zeros where nothing was put yet.
void *with_room(void *list, size_t *room, size_t place, size_t size);

// ---- entries.c

uint32_t entry_number(uint32_t directory, uint32_t name);
// What it leads to: an object, 0 for nothing, or NOT_KNOWN. Good until the next has its number.
uint32_t *entry_remembered(uint32_t number);
bool changes_by_itself(uint32_t directory); // no call tells of what is made there

mode_t mode_of(uint32_t object);
void mode_set(uint32_t object, mode_t mode);
uint32_t object_that_was(mode_t mode); // and is gone, and that nobody has told of

// Where a directory is, from the root; NULL: not known.
const char *way_of(uint32_t object);
void way_set(uint32_t object, const char *way);
uint32_t ways_moved(void); // how often a directory was moved, or found elsewhere than before
void ways_move(void);

void target_set(uint32_t object, const char *text); // what a link says

// A path of which only the begin was taken leads nowhere that is known.
static inline bool is_cut(size_t length) {
    return length >= SEEN_PATH;
}

// Questions that lookups.c asks are about this record from here on.
void entries_ask_about(const struct seen *seen);

// ---- mending.c

bool makes_directory(uint64_t number); // a call of this number, if it works

// ---- walks.c: the lookups of a call that was made before

void walks_begin(void);
uint32_t path_count(uint32_t number);          // that a call of this number takes
uint32_t walk_number(const struct seen *seen); // 0: not kept
// Fills them in, when every entry still leads to what it led to.
bool walk_again(struct thread *thread, uint32_t number, const struct seen *seen);
void walk_keep(const struct thread *thread, uint32_t number);

#endif
