// SPDX-License-Identifier: Apache-2.0
// Waiting for another process: nothing tells us when it has changed what a thread waits for.
#include "sync.h"

#define AGAIN 1000000 // nanoseconds until it is looked at again, really waited if nobody can run

enum ew_woken ew_wait_elsewhere(int64_t deadline) {
    struct pollfd nothing = {-1, 0, 0};
    int64_t again = ew_now() + AGAIN;
    bool last = deadline <= again;
    ew_point(EW_WHY_YIELD);
    enum ew_woken woken = ew_wait_outside(&nothing, 1, last ? deadline : again);
    return last ? woken : EW_WOKEN;
}
