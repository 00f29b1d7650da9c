// SPDX-License-Identifier: Apache-2.0
// A policy decides who goes next. One policy, one file; the scheduler knows nothing of policy.
#ifndef EITHERWAY_POLICY_H
#define EITHERWAY_POLICY_H

#include "../hashes.h"
#include "../runtime.h"

enum ew_arm { EW_ARM_FLIP = 1, EW_ARM_CONTROL, EW_ARM_PREFIX };

// branch: two accesses of the recorded run to the same bytes, and what is tried with them.
struct ew_branch {
    uint32_t arm;           // enum ew_arm
    uint32_t first, second; // threads, as they came in the recording
    uint32_t op;            // of the second access
    uint32_t times;         // which of the second thread's accesses to these bytes, from the cut on
    uint32_t size;
    uint64_t address;
    uint64_t cut;      // the step of the first access; of EW_ARM_PREFIX, of the second
    uint64_t patience; // steps that the second thread has to come to its access
    uint64_t rests;    // and times that time has to pass until then as nobody can go on
    uint64_t turned;   // bits of these bytes that are turned round: who loads sees it, and it stays
    uint32_t stores;   // 1: the first does, 2: the second does
    uint64_t longest;  // steps behind the two, until the run is ended; 0: as many as it takes
    uint64_t slow;     // steps for which the first is held on while the second looks again; 0: none
    uint64_t pause;    // a step before the cut at which it is asked too, as if it were left there
    uint64_t stop;     // where the run stands still and is copied for others; 0: nowhere
    uint32_t files;    // 1: then, files that were written are put back by whoever asks for copies
};

// What some policies are told beside the seed; 0: nothing.
struct ew_tuning {
    uint32_t late;        // of any: the thread that comes late, and 1 more
    uint32_t depth;       // pct: priorities change at one point less
    uint32_t length;      // pct: decision points of the run, about
    uint32_t interesting; // surw: operations that count, EW_INTERESTING_*
    struct ew_branch branch;
};

enum { EW_INTERESTING_PLACE = 1, EW_INTERESTING_ATOMIC = 2, EW_INTERESTING_SYNC = 4 };

struct ew_decision {
    enum ew_why why;
    struct ew_thread *const *ready; // in no order that means anything
    uint32_t count;
    const struct ew_thread *running; // may go on too and is among them, unless NULL
};

// branch.c: an access that the running thread makes now
EW_DATA bool ew_branch_listens;
void ew_branch_hear(unsigned op, const void *object, size_t size);
// Nobody is to go on, of a run that has left its recording: what else may happen.
uint32_t ew_branch_wait(const struct ew_decision *decision);

#define EW_TIME_PASSES UINT32_MAX        // nobody yet: time passes until something is due
#define EW_DECIDE_AGAIN (UINT32_MAX - 1) // the outside has done something: others may be ready

struct ew_policy {
    const char *name;
    void (*start)(uint64_t seed, const struct ew_tuning *tuning);
    // Index into decision->ready, EW_TIME_PASSES or EW_DECIDE_AGAIN. What each of the threads is
    // going to do is in its `about`; their `priority` is the policy's own, and 0 in a new thread.
    uint32_t (*next)(const struct ew_decision *decision);
    // One of `count` things that are not threads to run: which waiter a signal wakes.
    uint32_t (*pick)(uint32_t count);
    // How many plain accesses may pass before `next` is asked again, when `left` of those are left
    // that it said last: none, when it is one of them that asks.
    int64_t (*accesses)(int64_t left);
    bool alone; // `next` is also asked when only the running thread may go on
};

EW_DATA const struct ew_policy ew_policy_branch, ew_policy_depth_first, ew_policy_pct,
    ew_policy_pos, ew_policy_random_walk, ew_policy_replay, ew_policy_round_robin, ew_policy_surw,
    ew_policy_turns;

// A small generator whose whole state is one word, so that a seed names a schedule.
static inline uint64_t ew_random(uint64_t *state) {
    return ew_splitmix(*state += EW_SPLITMIX);
}

// One of so many, by a random number; a division would take longer.
static inline uint32_t ew_below(uint32_t number, uint32_t count) {
    return (uint32_t)((uint64_t)number * count >> 32);
}

static inline uint32_t ew_random_below(uint64_t *state, uint32_t count) {
    return ew_below((uint32_t)(ew_random(state) >> 32), count);
}

// For policies that know which accesses matter: a plain one is asked about only lest a thread that
// waits for a plain variable waits for ever.
static inline int64_t ew_few_accesses(int64_t left) {
    (void)left;
    return 2000;
}

// Index of the ready thread with the highest priority.
static inline uint32_t ew_highest(const struct ew_decision *decision) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < decision->count; i++)
        if (decision->ready[i]->priority > decision->ready[best]->priority)
            best = i;
    return best;
}

#endif
