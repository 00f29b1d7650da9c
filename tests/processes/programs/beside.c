// SPDX-License-Identifier: Apache-2.0
// Two processes that compute and make no calls, until they have been on two processors.
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct both {
    atomic_int where[2], over;
};

static void compute(struct both *both, int me) {
    while (!atomic_load(&both->over)) {
        int here = sched_getcpu(), other = atomic_load(&both->where[!me]); // both without a call
        atomic_store(&both->where[me], here + 1);
        if (other && other != here + 1)
            atomic_store(&both->over, 1);
    }
}

int main(void) {
    struct both *both =
        mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    compute(both, child == 0);
    return child == 0 ? 0 : waitpid(child, NULL, 0) != child;
}
