// SPDX-License-Identifier: Apache-2.0
// Follows the choices that are given, then lets whoever runs go on, and notes every decision with
// what else could have been chosen: one run of a search, which is led from outside.
#include "../due.h"
#include "../guide.h"
#include "../patience.h"
#include "../schedule.h"
#include "policy.h"

#include <string.h>

static uint64_t turns;
static uint32_t *numbers; // of those that are ready
#define READY_MAX (1u << 20)

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)seed;
    (void)tuning;
    turns = 0;
    if (!numbers)
        numbers = ew_pages(READY_MAX * sizeof *numbers);
    ew_patience_begin(0);
}

static struct ew_thread *with_number(const struct ew_decision *decision, uint32_t number) {
    for (uint32_t i = 0; i < decision->count; i++)
        if (decision->ready[i]->id == number)
            return decision->ready[i];
    ew_guide_refuse();
}

// Of the others, who has had no turn for the longest time; of several the first.
static struct ew_thread *another(const struct ew_decision *decision) {
    struct ew_thread *best = NULL;
    for (uint32_t i = 0; i < decision->count; i++) {
        struct ew_thread *thread = decision->ready[i];
        if (thread == decision->running)
            continue;
        if (!best || thread->priority < best->priority ||
            (thread->priority == best->priority && thread->id < best->id))
            best = thread;
    }
    return best;
}

static uint32_t decide(const struct ew_decision *decision, const struct ew_thread *usual,
                       bool time) {
    struct ew_guide_decision row = {.kind = EW_SWITCH_THREAD,
                                    .free = !decision->running,
                                    .time = time,
                                    .count = decision->count,
                                    .chosen = usual->id,
                                    .usual = usual->id};
    ew_guide_choice(&row.chosen);
    for (uint32_t i = 0; i < decision->count; i++)
        numbers[i] = decision->ready[i]->id;
    ew_guide_note(&row, numbers);
    if (row.chosen == EW_TIME_PASSES && !time)
        ew_guide_refuse();
    return row.chosen == EW_TIME_PASSES ? EW_TIME_PASSES
                                        : with_number(decision, row.chosen)->ready_at;
}

// Where there is nothing to choose, nothing is noted. Nor is it at an access that only comes now
// and then: there a thread that seems to wait gives its turn away, and that is all.
static uint32_t next(const struct ew_decision *decision) {
    bool stays = decision->running && !ew_seems_to_wait(decision);
    const struct ew_thread *usual = stays ? decision->running : another(decision);
    uint32_t index = (usual ? usual : decision->running)->ready_at;
    bool time = ew_due_while_idle() != EW_NEVER;
    if (decision->why != EW_WHY_ACCESS && (decision->count > 1 || time))
        index = decide(decision, decision->ready[index], time);
    if (index != EW_TIME_PASSES)
        decision->ready[index]->priority = ++turns;
    return index;
}

static uint32_t pick(uint32_t count) {
    struct ew_guide_decision row = {.kind = EW_SWITCH_WAITER, .free = true, .count = count};
    ew_guide_choice(&row.chosen);
    ew_guide_note(&row, NULL);
    if (row.chosen >= count)
        ew_guide_refuse();
    return row.chosen;
}

const struct ew_policy ew_policy_depth_first = {"depth-first", start,           next,
                                                pick,          ew_few_accesses, true};
