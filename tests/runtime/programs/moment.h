// SPDX-License-Identifier: Apache-2.0
// Moments to wait until: soon (to be seen passing), late (never seen), long ago, and none at all.
#ifndef MOMENT_H
#define MOMENT_H

#include <time.h>

static inline struct timespec moment_in(clockid_t clock, long nanoseconds) {
    struct timespec when;
    clock_gettime(clock, &when);
    when.tv_nsec += nanoseconds % 1000000000;
    when.tv_sec += nanoseconds / 1000000000 + when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static inline struct timespec soon(clockid_t clock) {
    return moment_in(clock, 1000000);
}

static inline struct timespec late(clockid_t clock) {
    return moment_in(clock, 60000000000);
}

static inline int has_passed(clockid_t clock, const struct timespec *when) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec > when->tv_sec ||
           (now.tv_sec == when->tv_sec && now.tv_nsec >= when->tv_nsec);
}

static const struct timespec long_ago = {1, 0};
static const struct timespec before_all = {-5, 0};
static const struct timespec no_time[] = {{1, -1}, {1, 1000000000}};

#endif
