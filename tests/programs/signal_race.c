// SPDX-License-Identifier: Apache-2.0
// A handler counts in a plain variable that another thread reads.
// EXPECT: data-race caught A B
#include "together.h"
#include <signal.h>

static int caught, seen;

static void handle(int number) {
    caught += number; // A
}

static void *interrupted(void *unused) {
    raise(SIGUSR1);
    return unused;
}

static void *look(void *unused) {
    seen = caught; // B
    return unused;
}

int main(void) {
    signal(SIGUSR1, handle);
    TOGETHER(interrupted, look);
    return 0;
}
