// SPDX-License-Identifier: Apache-2.0
// one_call SORT COUNT: makes one sort of system call over and over; prints how many, and the
// nanoseconds of the processor that each took, here and in children.
#define _GNU_SOURCE
#include "one_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int file;

static int none(void) {
    return syscall(SYS_getuid) < 0;
}

static int one_lseek(void) {
    return lseek(file, 0, SEEK_CUR) < 0;
}

static int one_write(void) {
    return write(file, "x", 1) != 1;
}

static int one_stat(void) {
    struct stat status;
    return stat("/usr/bin/env", &status) < 0;
}

static int open_and_close(void) {
    return close(open("/usr/bin/env", O_RDONLY)) < 0;
}

static const struct {
    const char *name;
    int (*make)(void); // 0: it worked
    int calls;
} sorts[] = {{"getuid", none, 1},    {"lseek", one_lseek, 1},           {"write", one_write, 1},
             {"stat", one_stat, 1},  {"open-close", open_and_close, 2}, {"process", one_fork, 3},
             {"vfork", one_vfork, 3}};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double of(struct timeval time) {
    return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

static double children(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return of(usage.ru_utime) + of(usage.ru_stime);
}

int main(int count, char **words) {
    stay_here();
    file = open("/dev/null", O_WRONLY);
    for (size_t i = 0; count == 3 && i < sizeof sorts / sizeof *sorts; i++) {
        if (strcmp(words[1], sorts[i].name) != 0)
            continue;
        long rounds = atol(words[2]) / sorts[i].calls;
        double start = now(), before = children();
        for (long round = 0; round < rounds; round++)
            if (sorts[i].make())
                return 1;
        long calls = rounds * sorts[i].calls;
        double own = now() - start;
        printf("%ld %.2f %.2f\n", calls, own / (double)calls,
               (children() - before) / (double)calls);
        return 0;
    }
    return 64;
}
