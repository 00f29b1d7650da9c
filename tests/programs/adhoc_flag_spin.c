// SPDX-License-Identifier: Apache-2.0
// The same without offering the turn: the loop does nothing but look.
// EXPECT: data-race done A B
#include "together.h"

static int done;

static void *work(void *unused) {
    done = 1; // A
    return unused;
}

static void *spin(void *unused) {
    while (!done) { // B
    }
    return unused;
}

int main(void) {
    TOGETHER(spin, work);
    return 0;
}
