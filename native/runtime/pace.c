// SPDX-License-Identifier: Apache-2.0
// Beside the outside the virtual clock goes no slower than the real one: who talks to others
// without ever resting would else wait long for a moment that is near.
#include "input.h"
#include "libc.h"

EW_REAL(clock_gettime);

#define ENOUGH 1000000 // nanoseconds that it may be behind before that is noted

static int64_t real_before, virtual_before; // when the outside was last touched
static int64_t behind;

static int64_t real_now(void) {
    struct timespec now;
    REAL(clock_gettime)(CLOCK_MONOTONIC, &now); // no system call, where libc can do without
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// Where the virtual clock has jumped ahead of the real one it stays ahead: only what passes counts.
static uint64_t fallen_behind(void) {
    int64_t real = real_now(), virtual = ew_elapsed();
    if (real_before)
        behind += (real - real_before) - (virtual - virtual_before);
    if (behind < 0)
        behind = 0;
    int64_t passed = behind < ENOUGH ? 0 : behind;
    behind -= passed;
    real_before = real;
    virtual_before = virtual + passed;
    return (uint64_t)passed;
}

void ew_pace(void) {
    uint64_t passed = ew_replaying ? 0 : fallen_behind();
    if (ew_input_perhaps(EW_INPUT_PASSED, passed != 0, &passed, sizeof passed))
        ew_clock_pass((int64_t)passed);
}
