// SPDX-License-Identifier: Apache-2.0
// Tells threads that wait for others by looking again and again from those that get on: policies
// that let one thread go on for long would let it look for ever.
#ifndef EITHERWAY_PATIENCE_H
#define EITHERWAY_PATIENCE_H

#include "schedulers/policy.h"

// Whether the running thread seems to wait: it offers its turn, has loaded from the same place many
// times on end, or has come to very many decision points, all while others could have gone on and
// none of them did. Asked once at each decision.
bool ew_seems_to_wait(const struct ew_decision *decision);
void ew_patience_begin(void);

#endif
