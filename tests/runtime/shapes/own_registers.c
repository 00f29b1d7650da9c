// SPDX-License-Identifier: Apache-2.0
// What belongs to a thread stays its own over every switch: errno, rounding, exceptions of floating
// point, and the values in its registers.
// flags: -frounding-math
#include "team.h"

#include <errno.h>
#include <fenv.h>

static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static volatile double one = 1, three = 3;

__attribute__((noinline)) static double third(void) {
    return one / three;
}

static void *keeps(void *number) {
    long me = number_of(number);
    int mode = modes[me % 4];
    double sums[6] = {0};
    CHECK(fegetround() == FE_TONEAREST);
    CHECK(fesetround(mode) == 0);
    feclearexcept(FE_ALL_EXCEPT);
    double expected = third();
    for (int i = 0; i < 20; i++) {
        errno = (int)me + 1000;
        sched_yield();
        CHECK(errno == (int)me + 1000);
        CHECK(fegetround() == mode);
        CHECK(third() == expected);
        for (int j = 0; j < 6; j++)
            sums[j] += (double)(j + me);
    }
    for (int j = 0; j < 6; j++)
        CHECK(sums[j] == 20.0 * (double)(j + me));
    CHECK(fetestexcept(FE_INEXACT));
    CHECK(!fetestexcept(FE_DIVBYZERO));
    return NULL;
}

int main(void) {
    run_team(8, keeps);
    CHECK(fegetround() == FE_TONEAREST);
    return 0;
}
