// SPDX-License-Identifier: Apache-2.0
// Threads count while another process signals them: where the handler runs is up to the outside.
#include "programs/check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#define TIMES 6

static int ends[2];
static atomic_int handled;
static long counts[2], seen[TIMES][2];

static void note(int number) {
    (void)number;
    seen[handled][0] = counts[0];
    seen[handled][1] = counts[1];
    handled++;
}

static void *count(void *own) {
    while (handled < TIMES)
        ++*(long *)own;
    return NULL;
}

// It asks for its parent, so nobody leaves before it has.
static pid_t start_signaller(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return child;
    CHECK(dup2(ends[0], 0) == 0);
    CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    execl("/bin/sh", "sh", "-c", "while read line; do kill -USR1 $PPID; done", (char *)NULL);
    _exit(1);
}

int main(void) {
    pthread_t threads[2];
    CHECK(signal(SIGUSR1, note) != SIG_ERR);
    CHECK(pipe(ends) == 0);
    pid_t signaller = start_signaller();
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, count, &counts[i]) == 0);
    for (int i = 0; i < TIMES; i++) {
        CHECK(write(ends[1], "\n", 1) == 1);
        while (handled <= i)
            sched_yield();
    }
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(close(ends[1]) == 0);
    CHECK(waitpid(signaller, NULL, 0) == signaller);
    for (int i = 0; i < TIMES; i++)
        printf("%ld %ld\n", seen[i][0], seen[i][1]);
    return 0;
}
