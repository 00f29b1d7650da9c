// SPDX-License-Identifier: Apache-2.0
// Each thread in turn, by number, at every decision point; the seed changes nothing.
#include "policy.h"

// Threads that do the same in step can hinder each other for ever: each holds what the next one
// tries to take, all give up, and begin again. So now and then one keeps its turn.
#define STEPS 61
static uint32_t steps;

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)tuning;
    (void)seed;
    steps = 0;
}

static bool keeps_turn(const struct ew_decision *decision) {
    return decision->running && decision->why != EW_WHY_YIELD && ++steps % STEPS == 0;
}

// Among many, the next number is not far; among few, it may be, when others have long ended.
#define MANY 64
#define NEAR 4096
static const struct ew_thread *next_of_many(uint32_t base) {
    for (uint32_t id = base + 1; id < base + NEAR; id++) {
        const struct ew_thread *thread = ew_thread_with(id);
        if (thread && thread->state == EW_READY)
            return thread;
    }
    return NULL;
}

// The smallest number above the running thread's; if there is none, the smallest of all.
static uint32_t next(const struct ew_decision *decision) {
    if (keeps_turn(decision))
        return decision->running->ready_at;
    uint32_t base = decision->running ? decision->running->id : ew_self->id;
    const struct ew_thread *near = decision->count > MANY ? next_of_many(base) : NULL;
    if (near)
        return near->ready_at;
    uint32_t best = 0, best_distance = UINT32_MAX;
    for (uint32_t i = 0; i < decision->count; i++) {
        uint32_t distance = decision->ready[i]->id - base - 1; // wraps: own number comes last
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

static uint32_t pick(uint32_t count) {
    (void)count;
    return 0;
}

static int64_t accesses(int64_t left) {
    (void)left;
    return 1000;
}

const struct ew_policy ew_policy_round_robin = {"round-robin", start, next, pick, accesses, false};
