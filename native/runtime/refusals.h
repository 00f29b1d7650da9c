// SPDX-License-Identifier: Apache-2.0
// What is refused in a sandbox, and nowhere else: in the user namespace of an ordinary user, a file
// whose owner or group has no number there cannot be changed (EOVERFLOW).
#ifndef EITHERWAY_REFUSALS_H
#define EITHERWAY_REFUSALS_H

#include "races.h"
#include "script.h"

#include <errno.h>

// Of a call that opens or changes a file. Only where a run goes its own way: what the recorded one
// was refused belongs to it.
static inline void ew_refusal_notice(int error) {
    if (UNLIKELY(error == EOVERFLOW) && ew_scripted)
        ew_refused();
}

#endif
