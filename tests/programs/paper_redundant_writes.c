// SPDX-License-Identifier: Apache-2.0
// What the study of Narayanasamy et al. calls redundant writes: both store the same value.
// EXPECT: data-race configured A A
#include "together.h"

static int configured;

static void *configure(void *unused) {
    configured = 1; // A
    return unused;
}

int main(void) {
    TOGETHER(configure, configure);
    return 0;
}
