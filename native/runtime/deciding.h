// SPDX-License-Identifier: Apache-2.0
// Between the scheduler, which knows who may go on, and the policy, which says who does.
#ifndef EITHERWAY_DECIDING_H
#define EITHERWAY_DECIDING_H

#include "schedulers/policy.h"

// One of those that are ready.
struct ew_thread *ew_decide(enum ew_why why);
int64_t ew_deciding_accesses(int64_t left); // that may pass until the next decision
void ew_deciding_start(void);
void ew_deciding_begin(const char *policy, uint64_t seed, const struct ew_tuning *tuning);

#endif
