// SPDX-License-Identifier: Apache-2.0
// Runs a command and says what it took: REPORT COMMAND ARGUMENTS. Into REPORT go seconds of the
// processor and of the wall, the highest resident size in KiB, and seconds of the processor of the
// first process alone. This process is small, because a child's resident size begins with its
// parent's.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// It has ended, and is still there.
static double own_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time = {0};
    siginfo_t end;
    if (waitid(P_PID, (id_t)process, &end, WEXITED | WNOWAIT) == 0 &&
        clock_getcpuclockid(process, &clock) == 0)
        clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count < 3)
        return 2;
    FILE *report = fopen(arguments[1], "we");
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(arguments[2], arguments + 2);
        _exit(127);
    }
    struct rusage usage;
    int status;
    double own = child < 0 ? 0 : own_seconds(child);
    if (!report || child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 126;
    fprintf(report, "%f %f %ld %f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
            now() - start, usage.ru_maxrss, own);
    return fclose(report) || !WIFEXITED(status) ? 125 : WEXITSTATUS(status);
}
