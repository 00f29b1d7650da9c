// SPDX-License-Identifier: Apache-2.0
// Which number the next process gets: numbers that a recorded run gave to others are used up by
// processes that end at once. This needs no privilege, and nobody else runs meanwhile.
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracer.h"

// The number that was given out last, in our pid namespace; -1 when it is not told.
static pid_t last_given(void) {
    int last;
    FILE *file = fopen("/proc/loadavg", "re");
    if (!file)
        return -1;
    if (fscanf(file, "%*s %*s %*s %*s %d", &last) != 1)
        last = -1;
    fclose(file);
    return last;
}

static pid_t use_up_one(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return child;
}

bool pids_next(pid_t wanted) {
    pid_t last = last_given();
    while (last > 0 && last < wanted - 1)
        last = use_up_one();
    return last == wanted - 1;
}
