// SPDX-License-Identifier: Apache-2.0
// What earlier runs have shown, for the scheduler, and what this one shows, in memory that is
// shared with whoever started it. It is about the first process of a run; its places are for all.
#ifndef EITHERWAY_GUIDE_H
#define EITHERWAY_GUIDE_H

#include "runtime.h"

#define EW_GUIDE_ROOM (256ul << 20) // bytes; behind it lies the memory of the family

// Maps the memory for the runs that this process is going to fork.
void ew_guide_hold(int descriptor);
// The run begins; `leads`: this is its first process. Without a path, and nothing held, no guide.
void ew_guide_begin(const char *path, bool leads);
void ew_guide_forked(void);

const uint64_t *ew_guide_places(uint32_t *count);
void ew_guide_found(uint64_t place);
void ew_guide_uncovered(void); // an access was no decision point, and perhaps should have been

void ew_guide_tired(void);  // a place is no decision point any more
void ew_guide_looked(void); // the program, at a clock
void ew_guide_rested(void); // all threads, until something was due

// Two sites of different threads, hashed together, came in this order: 1 or 2.
bool ew_guide_wants_pairs(void);
void ew_guide_pair(uint64_t sites, unsigned order);

// A decision point of the thread; `contested`: more than one may go on.
EW_DATA bool ew_guide_leading; // there is a guide, and this is the first process of the run
void ew_guide_count(const struct ew_thread *thread, enum ew_why why, bool contested);
static inline void ew_guide_point(const struct ew_thread *thread, enum ew_why why, bool contested) {
    if (ew_guide_leading && why != EW_WHY_ACCESS)
        ew_guide_count(thread, why, contested);
}
void ew_guide_thread(const struct ew_thread *thread, const struct ew_thread *creator);
// It wrote this to an output of the program: 1 or 2.
void ew_guide_wrote(uint32_t thread, unsigned output, const void *bytes, size_t size);
const struct ew_guide_thread *ew_guide_expected(uint32_t *count);

// The choice that is given for the next decision; false: none is.
bool ew_guide_choice(uint32_t *choice);
const uint32_t *ew_guide_choices(uint32_t *count); // all of them
// A decision that was taken. The run ends here when it has come to the limit.
void ew_guide_note(const struct ew_guide_decision *decision, const uint32_t *threads);
_Noreturn void ew_guide_refuse(void);   // a choice that is given cannot be taken
_Noreturn void ew_guide_beyond(void);   // a branch goes where the recording does not lead
_Noreturn void ew_guide_too_long(void); // a branch has had all the steps that it may have

// What became of the two accesses of a branch.
enum ew_pair_end {
    EW_PAIR_NOT_REACHED,
    EW_PAIR_HELD,    // the first thread stands before or behind its access
    EW_PAIR_ORDERED, // both happened in the order that was asked for
    EW_PAIR_BLOCKED, // the second thread cannot go on while the first is held
    EW_PAIR_ENDED,   // the second thread ended without its access
    EW_PAIR_WAITS,   // the second thread has not come to its access
    EW_PAIR_UNKNOWN, // what it waits for may come only when the first has told the outside more
};
void ew_guide_pair_is(enum ew_pair_end how);

#endif
