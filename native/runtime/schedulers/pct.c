// SPDX-License-Identifier: Apache-2.0
// Probabilistic concurrency testing: threads have random priorities, and the highest that may go on
// does; at a few random points of the run, whoever is to go on becomes one of the lowest.
//
// A failure that needs d orders between operations shows with a chance of at least 1/(n*k^(d-1)),
// for n threads, k decision points at which there is a choice, and d as the depth given: see
// Burckhardt et al., ASPLOS 2010. In one run of four, offering its turn costs a thread nothing.
#include "../patience.h"
#include "policy.h"

// Priorities: at random from HIGH on, those given at points of change below it (the later in the
// list the higher), and below these those of threads that seem to wait, each lower than the last.
#define HIGH (1ull << 62)
#define CHANGED (1ull << 61)
#define POINTS_MAX 64
#define USUAL_DEPTH 3
#define USUAL_LENGTH 1000

static uint64_t state, steps, lowest;
static uint64_t points[POINTS_MAX]; // steps
static uint32_t point_count;

static uint64_t minimum(uint64_t one, uint64_t other) {
    return one < other ? one : other;
}

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    uint64_t length = tuning->length ? tuning->length : USUAL_LENGTH;
    uint32_t depth = tuning->depth ? tuning->depth : USUAL_DEPTH;
    state = seed;
    steps = 0;
    lowest = CHANGED;
    point_count = (uint32_t)minimum(depth - 1, POINTS_MAX);
    for (uint32_t i = 0; i < point_count; i++)
        points[i] = 1 + ew_random(&state) % length;
    ew_patience_begin(ew_random(&state) % 4 ? 0 : EW_STUBBORN);
}

static void greet(const struct ew_decision *decision) {
    for (uint32_t i = 0; i < decision->count; i++)
        if (!decision->ready[i]->priority)
            decision->ready[i]->priority = HIGH + (ew_random(&state) >> 2);
}

static uint32_t next(const struct ew_decision *decision) {
    greet(decision);
    if (ew_seems_to_wait(decision))
        decision->ready[decision->running->ready_at]->priority = --lowest;
    uint32_t best = ew_highest(decision);
    if (decision->why == EW_WHY_ACCESS || decision->count == 1)
        return best;
    steps++;
    for (uint32_t i = 0; i < point_count; i++)
        if (points[i] == steps) {
            decision->ready[best]->priority = CHANGED + i;
            best = ew_highest(decision);
        }
    return best;
}

static uint32_t pick(uint32_t count) {
    return (uint32_t)(ew_random(&state) % count);
}

const struct ew_policy ew_policy_pct = {"pct", start, next, pick, ew_few_accesses, false};
