// SPDX-License-Identifier: Apache-2.0
// one_call SORT COUNT: makes one sort of system call over and over; prints how many, and the
// nanoseconds of the processor that each took. It stays on one processor, and so do its children: a
// process that is made on another one costs more, and by chance.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static int one_process(void) {
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return waitpid(child, &status, 0) != child;
}

static const struct {
    const char *name;
    int (*make)(void); // 0: it worked
    int calls;
} sorts[] = {{"getuid", none, 1},   {"lseek", one_lseek, 1},           {"write", one_write, 1},
             {"stat", one_stat, 1}, {"open-close", open_and_close, 2}, {"process", one_process, 3}};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void stay_here(void) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);
}

int main(int count, char **words) {
    stay_here();
    file = open("/dev/null", O_WRONLY);
    for (size_t i = 0; count == 3 && i < sizeof sorts / sizeof *sorts; i++) {
        if (strcmp(words[1], sorts[i].name) != 0)
            continue;
        long rounds = atol(words[2]) / sorts[i].calls;
        double start = now();
        for (long round = 0; round < rounds; round++)
            if (sorts[i].make())
                return 1;
        long calls = rounds * sorts[i].calls;
        printf("%ld %.0f\n", calls, (now() - start) / (double)calls);
        return 0;
    }
    return 64;
}
