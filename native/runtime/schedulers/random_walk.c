// SPDX-License-Identifier: Apache-2.0
// Every thread that may go on is as likely as the others, at every decision point.
#include "policy.h"

static uint64_t state;

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)tuning;
    state = seed;
}

static uint32_t next(const struct ew_decision *decision) {
    return ew_random_below(&state, decision->count);
}

static uint32_t pick(uint32_t count) {
    return ew_random_below(&state, count);
}

// Short distances are as likely as long ones, for races hide at both: between 1 and 4096 accesses.
// While races are looked for, those that matter are decision points of their own: then up to 65536.
static int64_t accesses(int64_t left) {
    if (left > 0)
        return left;
    uint64_t word = ew_random(&state), longest = ew_detecting ? 17 : 13;
    return 1 + (int64_t)((word >> 8) & ((1u << (word % longest)) - 1));
}

const struct ew_policy ew_policy_random_walk = {"random-walk", start, next, pick, accesses, false};
