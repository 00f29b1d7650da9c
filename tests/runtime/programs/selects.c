// SPDX-License-Identifier: Apache-2.0
// select: what is left of the time, sets that are larger than an fd_set, and what is no event.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

static void handle(int number) {
    (void)number;
}

// Again and again: the first may come before who is to be interrupted waits.
static void alarms_every(long microseconds) {
    struct itimerval setting = {{0, microseconds}, {0, microseconds}};
    CHECK(setitimer(ITIMER_REAL, &setting, NULL) == 0);
}

static void time_left(void) {
    struct timeval limit = {0, 2000};
    CHECK(select(0, NULL, NULL, NULL, &limit) == 0 && limit.tv_sec == 0 && limit.tv_usec == 0);
    int ends[2];
    fd_set set;
    CHECK(pipe(ends) == 0);
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    limit = (struct timeval){100, 0};
    CHECK(select(ends[1] + 1, NULL, &set, NULL, &limit) == 1 && FD_ISSET(ends[1], &set));
    CHECK(limit.tv_sec >= 50 && limit.tv_sec <= 100);
    alarms_every(5000);
    limit = (struct timeval){100, 0};
    CHECK(select(0, NULL, NULL, NULL, &limit) == -1 && errno == EINTR);
    CHECK(limit.tv_sec >= 50 && limit.tv_sec < 100);
    alarms_every(0);
    const struct timespec kept = {0, 1000000};
    struct timespec same = kept;
    CHECK(pselect(0, NULL, NULL, NULL, &same, NULL) == 0 && same.tv_nsec == kept.tv_nsec);
    close(ends[0]);
    close(ends[1]);
}

// That the other end is closed is nothing exceptional, nor is it room to write.
static void no_event(void) {
    int ends[2];
    fd_set except;
    CHECK(pipe(ends) == 0 && close(ends[1]) == 0);
    FD_ZERO(&except);
    FD_SET(ends[0], &except);
    struct timeval limit = {0, 3000};
    struct timespec before, after;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &before) == 0);
    CHECK(select(ends[0] + 1, NULL, NULL, &except, &limit) == 0 && !FD_ISSET(ends[0], &except));
    CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000l + after.tv_nsec - before.tv_nsec >= 3000000);
    fd_set read;
    FD_ZERO(&read);
    FD_SET(ends[0], &read);
    FD_SET(ends[0], &except);
    CHECK(select(ends[0] + 1, &read, NULL, &except, NULL) == 1);
    CHECK(FD_ISSET(ends[0], &read) && !FD_ISSET(ends[0], &except));
    close(ends[0]);
}

static void large_sets(void) {
    const int high = 2000;
    struct rlimit limit;
    int ends[2];
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    limit.rlim_cur = limit.rlim_max < 5000 ? limit.rlim_max : 5000;
    if (limit.rlim_cur <= (rlim_t)high)
        return;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(pipe(ends) == 0 && dup2(ends[0], high) == high && write(ends[1], "x", 1) == 1);
    unsigned long *words = calloc(64, sizeof *words), bit = 1ul << (high % 64);
    words[high / 64] = bit;
    CHECK(select(high + 1, (fd_set *)words, NULL, NULL, NULL) == 1 && words[high / 64] == bit);
    CHECK(select(-1, NULL, NULL, NULL, NULL) == -1 && errno == EINVAL);
    free(words);
    close(high);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    time_left();
    no_event();
    large_sets();
    return 0;
}
