// SPDX-License-Identifier: Apache-2.0
// What a process sends to its own group has come to it when the call returns.
#include "check.h"

#include <signal.h>

static volatile int handled;

static void handle(int number) {
    (void)number;
    handled++;
}

int main(void) {
    CHECK(setpgid(0, 0) == 0 && signal(SIGUSR1, handle) != SIG_ERR);
    CHECK(kill(0, SIGUSR1) == 0 && handled == 1);
    CHECK(kill(-getpid(), SIGUSR1) == 0 && handled == 2);
    CHECK(killpg(getpgrp(), SIGUSR1) == 0 && handled == 3);
    CHECK(kill(0, 0) == 0 && handled == 3);
    return 0;
}
