// SPDX-License-Identifier: Apache-2.0
// Partial order sampling: each operation has a random priority, drawn when its thread comes to it
// and again when another one that it conflicts with happens; the highest goes first.
//
// So of two that conflict, when both threads have come to them, either is first with the same
// chance; and one is held back behind n others that it does not conflict with by a chance of 1/(n +
// 1), where a random walk has one of 2^-n: see Yuan et al., CAV 2018.
#include "../patience.h"
#include "policy.h"

// Decisions after which all priorities are drawn anew. Where several threads wait by looking, each
// look has a new priority, and one that is very low would wait for them for ever.
#define HOLDS 1000

// Priorities: at random from HIGH on, below it those of threads that seem to wait, each lower than
// the last.
#define HIGH (1ull << 62)

static uint64_t state, lowest;
static uint32_t decisions;
static struct ew_about happened; // since the last decision

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)tuning;
    state = seed;
    lowest = HIGH;
    decisions = 0;
    happened = (struct ew_about){0};
    ew_patience_begin(0);
}

static bool conflicts(const struct ew_about *one, const struct ew_about *other) {
    uintptr_t mine = (uintptr_t)one->object, theirs = (uintptr_t)other->object;
    return mine && theirs && mine < theirs + other->size && theirs < mine + one->size &&
           !(one->op == EW_OP_LOAD && other->op == EW_OP_LOAD);
}

// A thread that blocks will come to its operation anew when it may go on.
static void draw(const struct ew_decision *decision) {
    if (decision->why != EW_WHY_ACCESS)
        ew_self->priority = 0;
    bool all = ++decisions % HOLDS == 0;
    for (uint32_t i = 0; i < decision->count; i++) {
        struct ew_thread *thread = decision->ready[i];
        if (all || !thread->priority || (thread != ew_self && conflicts(&happened, &thread->about)))
            thread->priority = HIGH + (ew_random(&state) >> 2);
    }
}

static uint32_t next(const struct ew_decision *decision) {
    draw(decision);
    if (ew_seems_to_wait(decision))
        ew_self->priority = --lowest;
    uint32_t best = ew_highest(decision);
    happened = decision->ready[best]->about;
    return best;
}

static uint32_t pick(uint32_t count) {
    return (uint32_t)(ew_random(&state) % count);
}

const struct ew_policy ew_policy_pos = {"pos", start, next, pick, ew_few_accesses, false};
