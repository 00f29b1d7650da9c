// SPDX-License-Identifier: Apache-2.0
// Makes processes when it is told so by a line: `fork COUNT` or `vfork COUNT`. A child makes them,
// one after the other on one processor, and writes the nanoseconds of the median one, by the wall.
// At `again` it runs its program anew: from there on the recorder's programs have a place for it.
#define _GNU_SOURCE
#include "one_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 10000, WARM = 4 }; // a part of them before is not measured

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int order(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int measure(int (*make)(void), long count) {
    static double took[MOST];
    for (long i = 0; i < count / WARM; i++)
        make();
    for (long i = 0; i < count; i++) {
        double start = now();
        if (make())
            return 1;
        took[i] = now() - start;
    }
    qsort(took, (size_t)count, sizeof *took, order);
    printf("%.0f\n", took[count / 2]);
    return fflush(stdout) != 0;
}

int main(int count, char **words) {
    char line[64], sort[32];
    long wanted;
    (void)count;
    stay_here();
    for (ssize_t length; (length = read(STDIN_FILENO, line, sizeof line - 1)) > 0;) {
        line[length] = '\0';
        if (strcmp(line, "again\n") == 0) {
            if (write(STDOUT_FILENO, "ready\n", 6) != 6)
                return 1;
            execv(words[0], words);
            return 127;
        }
        if (sscanf(line, "%31s %ld", sort, &wanted) != 2 || wanted > MOST)
            return 64;
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(measure(strcmp(sort, "vfork") == 0 ? one_vfork : one_fork, wanted));
        if (child < 0 || waitpid(child, &status, 0) < 0 || status)
            return 1;
    }
    return 0;
}
