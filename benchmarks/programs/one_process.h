// SPDX-License-Identifier: Apache-2.0
// A process that is made, ends and is waited for, all on one processor: on another one it costs
// more, and by chance. Define _GNU_SOURCE before.
#ifndef EITHERWAY_ONE_PROCESS_H
#define EITHERWAY_ONE_PROCESS_H

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int wait_for(pid_t child) { // 0: it worked
    int status;
    return waitpid(child, &status, 0) != child;
}

static inline int one_fork(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return wait_for(child);
}

// As shells and posix_spawn do it: nothing is copied.
static inline int one_vfork(void) {
    pid_t child = vfork();
    if (child == 0)
        _exit(0);
    return wait_for(child);
}

static inline void stay_here(void) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
}

#endif
