// SPDX-License-Identifier: Apache-2.0
// A program that was started by nobody of ours, as a configure script does: races are looked for in
// its one schedule, and told on standard error.
#ifndef EITHERWAY_BARE_H
#define EITHERWAY_BARE_H

#include "runtime.h"

extern bool ew_bare;

void ew_bare_tell(const struct ew_found_row *row);

// The program is about to end: whether something was told, which is summed up.
bool ew_bare_failed(void);
#define EW_BARE_STATUS 66 // then it ends so, as with libtsan

#endif
