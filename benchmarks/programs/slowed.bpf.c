/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The recorder's programs, and one more that keeps whoever is recorded for half a microsecond at
 * the end of each call: what measures the cost of a call must see it. */
#include "../../native/recorder/recorder.bpf.c"

enum { SLOWED_BY = 500, LOOKS = 1000 };

static u64 (*nanoseconds)(void) = (void *)5;

SECTION("raw_tp/sys_exit") int slowed(u64 *context) {
    if (!place_of(context[0]))
        return 0;
    u64 start = nanoseconds();
#pragma clang loop unroll(disable)
    for (u32 i = 0; i < LOOKS && nanoseconds() - start < SLOWED_BY; i++)
        ;
    return 0;
}
