// SPDX-License-Identifier: Apache-2.0
// Clocks of time and of work: they go on, agree, and rest is no work.
// replayed
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
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

static void *works(void *unused) {
    for (int i = 0; i < 100; i++)
        work();
    return unused;
}

// What one thread has done is not what another has.
static void each_its_own(void) {
    pthread_t thread;
    clockid_t clock;
    CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
    long long all = now(CLOCK_PROCESS_CPUTIME_ID), mine = now(clock);
    CHECK(pthread_create(&thread, NULL, works, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    mine = now(CLOCK_THREAD_CPUTIME_ID) - mine;
    CHECK(mine >= 0 && mine < (now(CLOCK_PROCESS_CPUTIME_ID) - all) / 2);
}

static void handle(int number) {
    (void)number;
}

// Again and again: the first may come before who is to be interrupted sleeps.
static void alarms_every(long microseconds) {
    struct itimerval setting = {{0, microseconds}, {0, microseconds}};
    CHECK(setitimer(ITIMER_REAL, &setting, NULL) == 0);
}

static void long_sleeps(void) {
    const time_t lengths[] = {LONG_MAX, 31536000000, 20000000000, 100};
    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    alarms_every(3000);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct timespec length = {lengths[i], 0};
        CHECK(nanosleep(&length, NULL) == -1 && errno == EINTR);
        CHECK(ppoll(NULL, 0, &length, NULL) == -1 && errno == EINTR);
    }
    unsigned left = sleep(100);
    CHECK(left >= 50 && left < 100);
    alarms_every(0);
}

static void bad_sleeps(void) {
    const struct timespec before = {-1, 0}, some = {0, 1000};
    struct timespec *volatile nowhere = (struct timespec *)8;
    CHECK(nanosleep(&before, NULL) == -1 && errno == EINVAL);
    CHECK(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &before, NULL) == EINVAL);
    CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &some, NULL) == EINVAL);
    CHECK(clock_nanosleep(77, 0, &some, NULL) == EINVAL);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC_RAW, 0, &some, NULL) == EOPNOTSUPP);
    CHECK(clock_nanosleep(CLOCK_TAI, 0, &some, NULL) == 0);
    CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, nowhere, NULL) == EFAULT);
    CHECK(nanosleep(nowhere, NULL) == -1 && errno == EFAULT);
    CHECK(poll((struct pollfd *)nowhere, 1, 0) == -1 && errno == EFAULT);
    CHECK(syscall(SYS_futex, 4096, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) == -1 && errno == EFAULT);
    sigset_t none;
    sigemptyset(&none);
    CHECK(sigtimedwait(&none, NULL, &before) == -1 && errno == EINVAL);
    CHECK(gettimeofday((struct timeval *volatile){NULL}, NULL) == 0);
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
    each_its_own();
    long_sleeps();
    bad_sleeps();
    return 0;
}
