// SPDX-License-Identifier: Apache-2.0
// Policies without a program: threads that are made up come, wait and go, and each decision must be
// one of those that may go on; with the same seed, the same again.
//
// usage: policies_alone FIRST-SEED LAST-SEED
#include "guide.h"
#include "schedulers/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 600 // more than any policy has a place for
#define DECISIONS 2000

static struct ew_thread threads[THREADS], *all[THREADS];
static uint32_t count;

struct ew_thread *ew_self;
bool ew_detecting = true;

uint32_t ew_thread_count(void) {
    return count;
}
struct ew_thread *const *ew_threads(void) {
    return all;
}
struct ew_thread *ew_thread_with(uint32_t id) {
    return id < count ? all[id] : NULL;
}

// --- what a program would do, of another generator than the policy's

static uint64_t state;
static char bytes[8];

static uint32_t below(uint32_t limit) {
    return ew_random_below(&state, limit);
}

// What an earlier run had: fewer threads than this one.
const struct ew_guide_thread *ew_guide_expected(uint32_t *known) {
    static struct ew_guide_thread rows[THREADS / 2];
    *known = THREADS / 2;
    for (uint32_t i = 0; i < *known; i++)
        rows[i] = (struct ew_guide_thread){
            .creator = i ? below(i) : 0, .sync = below(9), .atomic = below(9), .place = below(9)};
    return rows;
}

static void go_on(struct ew_thread *thread) {
    static const uint8_t ops[] = {EW_OP_LOAD, EW_OP_STORE, EW_OP_UPDATE};
    static const uint8_t whys[] = {EW_WHY_SYNC, EW_WHY_ATOMIC, EW_WHY_ACCESS, EW_WHY_PLACE,
                                   EW_WHY_YIELD};
    thread->about =
        (struct ew_about){below(4) ? &bytes[below(8)] : NULL, 1, ops[below(3)], whys[below(5)]};
}

static void add_thread(void) {
    struct ew_thread *thread = &threads[count];
    *thread = (struct ew_thread){.id = count, .state = EW_READY};
    all[count++] = thread;
    go_on(thread);
}

// Those that may go on, the running one among them most often.
static struct ew_decision asked(struct ew_thread **ready) {
    struct ew_decision decision = {ew_self->about.why, ready, 0, NULL};
    for (uint32_t i = 0, sure = below(count); i < count; i++) {
        bool may_go = i == sure || (all[i] == ew_self ? below(8) : below(3)) != 0;
        all[i]->state = may_go ? EW_READY : EW_BLOCKED;
        if (!may_go)
            continue;
        all[i]->ready_at = decision.count;
        ready[decision.count++] = all[i];
        if (all[i] == ew_self)
            decision.running = ew_self;
    }
    return decision;
}

static bool decide(const struct ew_policy *policy, uint32_t *chosen) {
    struct ew_thread *ready[THREADS];
    struct ew_decision decision = asked(ready);
    *chosen = policy->next(&decision);
    if (*chosen >= decision.count || policy->pick(3) >= 3 || policy->accesses(0) < 0)
        return false;
    ew_self = ready[*chosen];
    go_on(ew_self);
    return true;
}

static bool run(const struct ew_policy *policy, uint64_t seed, uint32_t *chosen) {
    const struct ew_tuning tuning = {.depth = 3, .length = DECISIONS, .interesting = 7};
    memset(threads, 0, sizeof threads);
    state = ~seed;
    count = 0;
    add_thread();
    ew_self = all[0];
    policy->start(seed, &tuning);
    for (uint32_t i = 0; i < DECISIONS; i++) {
        if (count < THREADS && below(3) == 0)
            add_thread();
        if (!decide(policy, &chosen[i]))
            return false;
    }
    return true;
}

int main(int argument_count, char **arguments) {
    static const struct ew_policy *const policies[] = {&ew_policy_pct, &ew_policy_pos,
                                                       &ew_policy_random_walk,
                                                       &ew_policy_round_robin, &ew_policy_surw};
    static uint32_t first[DECISIONS], again[DECISIONS];
    if (argument_count != 3)
        return 2;
    uint64_t last = strtoul(arguments[2], NULL, 10);
    for (uint64_t seed = strtoul(arguments[1], NULL, 10); seed <= last; seed++)
        for (size_t i = 0; i < sizeof policies / sizeof *policies; i++)
            if (!run(policies[i], seed, first) || !run(policies[i], seed, again) ||
                memcmp(first, again, sizeof first) != 0) {
                fprintf(stderr, "%s with seed %lu\n", policies[i]->name, seed);
                return 1;
            }
    return 0;
}
