// SPDX-License-Identifier: Apache-2.0
// Clocks of time and of work: they go on, agree, and rest is no work.
// replayed
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock) {
    struct timespec time;
    CHECK(clock_gettime(clock, &time) == 0);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void work(void) {
    for (volatile int i = 0; i < 20000; i++)
        ;
}

static void goes_on(clockid_t clock) {
    long long before = now(clock);
    work();
    CHECK(now(clock) > before);
}

static void *of_thread(void *argument) {
    clockid_t clock;
    CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
    goes_on(clock);
    goes_on(CLOCK_THREAD_CPUTIME_ID);
    return argument;
}

int main(void) {
    const clockid_t clocks[] = {CLOCK_REALTIME,      CLOCK_MONOTONIC, CLOCK_BOOTTIME,
                                CLOCK_MONOTONIC_RAW, CLOCK_TAI,       CLOCK_PROCESS_CPUTIME_ID};
    struct timespec none, rest = {0, 20000000};
    pthread_t thread;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        goes_on(clocks[i]);
    CHECK(clock_gettime(1000, &none) == -1 && errno == EINVAL);
    CHECK(now(CLOCK_REALTIME) / 1000000000 - time(NULL) <= 1);

    long long work_before = now(CLOCK_PROCESS_CPUTIME_ID), before = now(CLOCK_MONOTONIC);
    CHECK(nanosleep(&rest, NULL) == 0);
    CHECK(now(CLOCK_MONOTONIC) - before >= rest.tv_nsec);
    CHECK(now(CLOCK_PROCESS_CPUTIME_ID) - work_before < rest.tv_nsec);

    struct rusage used;
    CHECK(getrusage(RUSAGE_SELF, &used) == 0 && used.ru_maxrss > 0);
    CHECK(getrusage(77, &used) == -1 && errno == EINVAL);
    CHECK(clock() != (clock_t)-1);
    struct tms ticks;
    clock_t begin = times(&ticks);
    CHECK(begin != (clock_t)-1 && times(NULL) >= begin);

    CHECK(pthread_create(&thread, NULL, of_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
