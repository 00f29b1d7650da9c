// SPDX-License-Identifier: Apache-2.0
// What a fork costs a process with memory: MIB HUGE COUNT. Touches so much, in huge pages or not,
// then forks children that end at once. Prints microseconds of a fork with its end and its wait.
#define _GNU_SOURCE
#include "real_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(size_t bytes, int huge) {
    char *heap = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heap == MAP_FAILED || madvise(heap, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        exit(1);
    for (size_t i = 0; i < bytes; i += 4096)
        heap[i] = 1;
}

int main(int count, char **arguments) {
    if (count != 4)
        return 2;
    size_t bytes = (size_t)atol(arguments[1]) << 20;
    int times = atoi(arguments[3]);
    if (bytes)
        touch(bytes, atoi(arguments[2]));
    double start = real_nanoseconds(CLOCK_MONOTONIC);
    for (int i = 0; i < times; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return 1;
    }
    printf("%f\n", (real_nanoseconds(CLOCK_MONOTONIC) - start) / times / 1e3);
    return 0;
}
