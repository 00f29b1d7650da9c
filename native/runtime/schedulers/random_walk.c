// SPDX-License-Identifier: Apache-2.0
// Now and then one of the threads that may go on is drawn, each as likely as the others, and goes
// on for a while.
//
// Some failures need many switches, others need a thread to come far without one, and nobody knows
// which of them a program has. So the seed says how calm a schedule is: who is drawn comes past 0,
// 1, 3 or 7 more decision points on average, but never past one at which it offers its turn.
#include "policy.h"

#define CALMEST 3 // 2^3 - 1

static uint64_t state;
static uint32_t whiles; // of different lengths, from 0 on
static uint32_t left;   // of the while of whoever runs

static void start(uint64_t seed, const struct ew_tuning *tuning) {
    (void)tuning;
    state = seed;
    whiles = (2u << ew_random_below(&state, CALMEST + 1)) - 1;
    left = 0;
}

static uint32_t next(const struct ew_decision *decision) {
    if (left && decision->running && decision->why != EW_WHY_YIELD) {
        left--;
        return decision->running->ready_at;
    }
    uint64_t word = ew_random(&state);
    left = ew_below((uint32_t)word, whiles);
    return ew_below((uint32_t)(word >> 32), decision->count);
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
