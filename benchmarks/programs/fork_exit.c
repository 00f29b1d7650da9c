// SPDX-License-Identifier: Apache-2.0
// The bound: how often a process can fork a child that ends at once, per second.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int times = count > 1 ? atoi(arguments[1]) : 1000;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < times; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", times / ((double)(end.tv_sec - start.tv_sec) +
                            (double)(end.tv_nsec - start.tv_nsec) / 1e9));
    return 0;
}
