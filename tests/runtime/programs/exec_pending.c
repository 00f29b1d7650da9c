// SPDX-License-Identifier: Apache-2.0
// Signals that wait, blocked, are there still in the program that replaces this one; and in this
// one, when that fails.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static int handled;

static void handle(int number) {
    handled = number;
}

static void expect_pending(int number) {
    sigset_t set;
    CHECK(sigpending(&set) == 0 && sigismember(&set, number) == 1);
}

int main(int count, char **words) {
    sigset_t set;
    if (count > 1) {
        expect_pending(SIGUSR1);
        expect_pending(SIGRTMIN);
        return 0;
    }
    CHECK(signal(SIGUSR1, handle) != SIG_ERR && signal(SIGRTMIN, handle) != SIG_ERR);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0 && raise(SIGRTMIN) == 0);
    CHECK(execl("/nonexistent", "x", (char *)NULL) == -1 && errno == ENOENT && !handled);
    expect_pending(SIGUSR1);
    expect_pending(SIGRTMIN);
    execl(words[0], words[0], "again", (char *)NULL);
    CHECK(!"replaced");
}
