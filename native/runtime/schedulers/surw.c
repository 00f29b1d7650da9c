// SPDX-License-Identifier: Apache-2.0
// Selectively uniform random walk: of the orders in which the interesting operations can come, each
// is as likely as the others.
//
// Who does the next interesting operation is drawn ahead, by how many each thread still has to do,
// with those of the threads that it has yet to create; the counts come from an earlier run. Until
// then all others go on at random, but not beyond an interesting operation of theirs. See Zhao et
// al., ASPLOS 2025.
#include "../guide.h"
#include "policy.h"

static uint64_t state;
static uint32_t interesting;

// By number of the thread. More are never expected; the others count as if they had nothing to do.
#define KNOWN 256
static struct weight {
    uint32_t subtree; // its own and those of all whom it creates, as expected
    uint32_t left;    // of it: its own, and of those that are yet to be created
} weights[KNOWN] EW_LARGE;
static uint32_t seen; // threads so far

static struct ew_thread *chosen;     // does the next interesting operation; NULL: to be drawn
static const struct ew_thread *went; // was let go on at the last decision

// Decisions since the last interesting operation. Those that are held back may be what all others
// wait for, by looking again and again: after so many nobody is held back until the next one.
#define PATIENCE 1000
static uint32_t waited;

static uint32_t own(const struct ew_guide_thread *row) {
    return (interesting & EW_INTERESTING_PLACE ? row->place : 0) +
           (interesting & EW_INTERESTING_ATOMIC ? row->atomic : 0) +
           (interesting & EW_INTERESTING_SYNC ? row->sync : 0);
}

// Creators have smaller numbers than those whom they create.
static void expect(void) {
    uint32_t count;
    const struct ew_guide_thread *rows = ew_guide_expected(&count);
    count = count < KNOWN ? count : KNOWN;
    for (uint32_t i = 0; i < KNOWN; i++)
        weights[i] = (struct weight){.subtree = i < count ? own(&rows[i]) : 0};
    for (uint32_t i = count; i-- > 1;)
        if (rows[i].creator < i)
            weights[rows[i].creator].subtree += weights[i].subtree;
    weights[0].left = weights[0].subtree;
}

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    state = seed;
    interesting = tuning->interesting
                      ? tuning->interesting
                      : EW_INTERESTING_PLACE | EW_INTERESTING_ATOMIC | EW_INTERESTING_SYNC;
    chosen = NULL;
    went = NULL;
    seen = 1;
    waited = 0;
    expect();
}

static bool is_interesting(const struct ew_thread *thread) {
    enum ew_why why = thread->about.why;
    return (why == EW_WHY_PLACE && interesting & EW_INTERESTING_PLACE) ||
           (why == EW_WHY_ATOMIC && interesting & EW_INTERESTING_ATOMIC) ||
           (why == EW_WHY_SYNC && interesting & EW_INTERESTING_SYNC);
}

static uint32_t left(const struct ew_thread *thread) {
    return thread->id < KNOWN && thread->state != EW_ENDED ? weights[thread->id].left : 0;
}

static bool falls_to(uint64_t part, uint64_t all) {
    return ew_random(&state) % all < part;
}

// What its creator had to do besides its own, this one has to do now.
static void begin(struct ew_thread *thread, struct ew_thread *creator) {
    uint32_t all = left(creator), taken = weights[thread->id].subtree;
    taken = taken < all ? taken : all;
    weights[thread->id].left = taken;
    if (creator->id < KNOWN)
        weights[creator->id].left = all - taken;
    if (chosen == creator && taken && falls_to(taken, all))
        chosen = thread;
}

static void meet(const struct ew_decision *decision) {
    for (uint32_t i = 0; i < decision->count; i++)
        if (decision->ready[i]->id >= seen) {
            seen = decision->ready[i]->id + 1;
            if (decision->ready[i]->id < KNOWN)
                begin(decision->ready[i], ew_self);
        }
}

// The operation at which the thread was let go on has happened, unless it blocks in it.
static void count(const struct ew_decision *decision, bool was_interesting) {
    if (went != ew_self || !was_interesting || decision->why == EW_WHY_BLOCKED)
        return;
    if (ew_self->id < KNOWN && weights[ew_self->id].left)
        weights[ew_self->id].left--;
    if (chosen == ew_self)
        chosen = NULL;
    waited = 0;
}

static struct ew_thread *draw(struct ew_thread *const *threads, uint32_t size) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < size; i++)
        all += left(threads[i]);
    uint64_t at = all ? ew_random(&state) % all : 0;
    for (uint32_t i = 0; i < size && all; i++) {
        if (at < left(threads[i]))
            return threads[i];
        at -= left(threads[i]);
    }
    return NULL;
}

static bool may_go(const struct ew_thread *thread) {
    return thread == chosen || !chosen || !is_interesting(thread);
}

static uint32_t any(const struct ew_decision *decision, uint32_t among) {
    uint32_t at = (uint32_t)(ew_random(&state) % among);
    for (uint32_t i = 0; i < decision->count; i++)
        if (may_go(decision->ready[i]) && !at--)
            return i;
    return 0;
}

static uint32_t choose(const struct ew_decision *decision) {
    uint32_t among = 0;
    for (uint32_t i = 0; i < decision->count; i++)
        among += may_go(decision->ready[i]);
    if (among)
        return any(decision, among);
    chosen = draw(decision->ready, decision->count); // the one that was drawn cannot go on
    return chosen ? chosen->ready_at : (uint32_t)(ew_random(&state) % decision->count);
}

static uint32_t next(const struct ew_decision *decision) {
    static bool was_interesting;
    count(decision, was_interesting);
    meet(decision);
    if (chosen && (chosen->state == EW_ENDED || !left(chosen)))
        chosen = NULL;
    if (++waited > PATIENCE)
        chosen = NULL;
    else if (!chosen)
        chosen = draw(ew_threads(), ew_thread_count());
    uint32_t index = choose(decision);
    went = decision->ready[index];
    was_interesting = is_interesting(went);
    return index;
}

static uint32_t pick(uint32_t count) {
    return (uint32_t)(ew_random(&state) % count);
}

const struct ew_policy ew_policy_surw = {"surw", start, next, pick, ew_few_accesses, true};
