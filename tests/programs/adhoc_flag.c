// SPDX-License-Identifier: Apache-2.0
// Waits on a plain flag in a loop: it works by luck of the compiler, and races in two places.
// EXPECT: data-race done A B
// EXPECT: data-race result C D
#include "together.h"
#include <sched.h>

static int done, result, seen;

static void *work(void *unused) {
    result = 42; // C
    done = 1;    // A
    return unused;
}

static void *wait_for_it(void *unused) {
    while (!done) // B
        sched_yield();
    seen = result; // D
    return unused;
}

int main(void) {
    TOGETHER(work, wait_for_it);
    return 0;
}
