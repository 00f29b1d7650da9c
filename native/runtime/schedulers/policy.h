// SPDX-License-Identifier: Apache-2.0
// A policy decides who goes next. One policy, one file; the scheduler knows nothing of policy.
#ifndef EITHERWAY_POLICY_H
#define EITHERWAY_POLICY_H

#include "../runtime.h"

struct ew_decision {
    enum ew_why why;
    struct ew_thread *const *ready; // in no order that means anything
    uint32_t count;
    const struct ew_thread *running; // may go on too and is among them, unless NULL
};

struct ew_policy {
    const char *name;
    void (*start)(uint64_t seed);
    // Index into decision->ready.
    uint32_t (*next)(const struct ew_decision *decision);
    // One of `count` things that are not threads to run: which waiter a signal wakes.
    uint32_t (*pick)(uint32_t count);
    // How many plain accesses may pass before `next` is asked again.
    int64_t (*accesses)(void);
};

extern const struct ew_policy ew_policy_random_walk, ew_policy_replay, ew_policy_round_robin;

// A small generator whose whole state is one word, so that a seed names a schedule.
static inline uint64_t ew_random(uint64_t *state) { // splitmix64
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
