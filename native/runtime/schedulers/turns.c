// SPDX-License-Identifier: Apache-2.0
// Gives threads the turns that it is told: in each, one thread goes on until it has come so far by
// its own steps. So a turn may be left out, and its thread does that part in its next one.
//
// A turn of a thread that cannot go on is over. Behind the last, whoever runs goes on. Of a run
// that is given, only what came from outside is used.
#include "../circles.h"
#include "../due.h"
#include "../guide.h"
#include "../input.h"
#include "../patience.h"
#include "../schedule.h"
#include "../script.h"
#include "policy.h"

struct turn {
    uint32_t thread; // or EW_TIME_PASSES
    uint32_t until;  // its own steps
};
static const struct turn *turns;
static const uint32_t *picks;
static uint32_t turns_left, picks_left;
static uint64_t since;               // the step at which whoever ran was asked last
static const struct ew_thread *runs; // since then

// How many turns there are, the turns, and then which waiters are woken.
static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)seed;
    (void)tuning;
    uint32_t words;
    const uint32_t *told = ew_guide_choices(&words);
    if (!words || told[0] > (words - 1) / 2)
        ew_bad_options("turns are to be told");
    turns = (const struct turn *)(told + 1);
    turns_left = told[0];
    picks = told + 1 + 2 * turns_left;
    picks_left = words - 1 - 2 * turns_left;
    since = 0;
    runs = NULL;
    ew_patience_begin(0);
}

// A thread's `priority` is the number of its own steps.
static void count_own_steps(void) {
    ew_self->priority += ew_steps - since;
    since = ew_steps;
}

static struct ew_thread *with_number(const struct ew_decision *decision, uint32_t number) {
    for (uint32_t i = 0; i < decision->count; i++)
        if (decision->ready[i]->id == number && !ew_script_holds(decision->ready[i]))
            return decision->ready[i];
    return NULL;
}

// The next by number; behind the last one the first.
static struct ew_thread *another(const struct ew_decision *decision) {
    struct ew_thread *best = NULL;
    for (uint32_t i = 0; i < decision->count; i++) {
        struct ew_thread *thread = decision->ready[i];
        if (thread != decision->running && !ew_script_holds(thread) &&
            (!best || thread->id - ew_self->id - 1 < best->id - ew_self->id - 1))
            best = thread;
    }
    return best;
}

static uint32_t go_on(const struct ew_decision *decision) {
    const struct ew_thread *running = decision->running;
    bool may_stay = running && !ew_script_holds(running);
    if (may_stay && !ew_seems_to_wait(decision))
        return running->ready_at;
    const struct ew_thread *other = another(decision);
    if (other)
        return other->ready_at;
    return may_stay ? running->ready_at : ew_branch_wait(decision);
}

static uint32_t chosen(const struct ew_decision *decision) {
    for (; turns_left; turns++, turns_left--) {
        if (turns->thread == EW_TIME_PASSES) {
            if (ew_due_while_idle() == EW_NEVER)
                continue;
            turns++, turns_left--;
            return EW_TIME_PASSES;
        }
        const struct ew_thread *thread = with_number(decision, turns->thread);
        if (thread && thread->priority < turns->until)
            return thread->ready_at;
    }
    return go_on(decision);
}

static uint32_t next(const struct ew_decision *decision) {
    if (ew_schedule_following()) {
        ew_schedule_leave();
        ew_input_leave();
        ew_circles_begin(ew_detecting, NULL);
    }
    count_own_steps();
    uint32_t index = chosen(decision);
    if (index < decision->count)
        runs = decision->ready[index];
    return index;
}

static uint32_t pick(uint32_t count) {
    if (!picks_left)
        return 0;
    picks_left--;
    uint32_t told = *picks++;
    return told < count ? told : 0;
}

// Not too many at once: whoever spins in a long turn is to be seen to do so.
static int64_t accesses(int64_t left) {
    int64_t few = ew_few_accesses(left);
    if (!turns_left || !runs)
        return turns_left ? 0 : few;
    uint64_t own = runs->priority + ew_steps - since;
    int64_t to_end = turns->until > own ? (int64_t)(turns->until - own) - 1 : 0;
    return to_end < few ? to_end : few; // the access after these asks
}

const struct ew_policy ew_policy_turns = {"turns", start, next, pick, accesses, true};
