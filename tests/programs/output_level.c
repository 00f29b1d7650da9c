// SPDX-License-Identifier: Apache-2.0
// A thread is told to say more while it works: how much it says depends on when it looks.
// EXPECT: data-race level A B
#include "together.h"
#include <stdio.h>

static int level;

static void *raise(void *unused) {
    level = 1; // A
    return unused;
}

static void *work(void *unused) {
    if (level > 0) // B
        puts("working");
    puts("done");
    return unused;
}

int main(void) {
    TOGETHER(raise, work);
    return 0;
}
