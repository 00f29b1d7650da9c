// SPDX-License-Identifier: Apache-2.0
// Every thread that may go on is as likely as the others, at every decision point.
#include "policy.h"

static uint64_t state;

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)tuning;
    state = seed;
}

static uint32_t next(const struct ew_decision *decision) {
    return (uint32_t)(ew_random(&state) % decision->count);
}

static uint32_t pick(uint32_t count) {
    return (uint32_t)(ew_random(&state) % count);
}

// Between 1 and 4096, short distances as likely as long ones: races hide at both.
static int64_t accesses(void) {
    uint64_t word = ew_random(&state);
    return 1 + (int64_t)((word >> 8) & ((1u << (word % 13)) - 1));
}

const struct ew_policy ew_policy_random_walk = {"random-walk", start, next, pick, accesses, false};
