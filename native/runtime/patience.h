// SPDX-License-Identifier: Apache-2.0
// Tells threads that wait for others by looking again and again from those that get on: policies
// that let one thread go on for long would let it look for ever.
#ifndef EITHERWAY_PATIENCE_H
#define EITHERWAY_PATIENCE_H

#include "schedulers/policy.h"

// Whether the running thread seems to wait: it offers its turn once too often, has loaded from the
// same place many times on end, or has come to very many decision points, all while others could
// have gone on and none of them did. Asked once at each decision.
bool ew_seems_to_wait(const struct ew_decision *decision);
// `offers` of its turn may come to nothing: sched_yield promises nothing, and whoever looks a few
// times before he sleeps would never come to sleep if the others went on each time.
#define EW_STUBBORN 64
void ew_patience_begin(uint32_t offers);

#endif
