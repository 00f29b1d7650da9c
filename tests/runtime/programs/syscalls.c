// SPDX-License-Identifier: Apache-2.0
// syscall(): numbers of threads are their own and stay; the others do what their functions do.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static pid_t numbers[4];

static void *number(void *place) {
    pid_t first = gettid();
    CHECK(syscall(SYS_gettid) == first);
    for (int i = 0; i < 10; i++) {
        sched_yield();
        CHECK(gettid() == first && syscall(SYS_gettid) == first);
    }
    CHECK(syscall(SYS_tgkill, getpid(), first, 0) == 0);
    CHECK(tgkill(getpid(), first, 0) == 0);
    CHECK(syscall(SYS_tkill, first, 0) == 0);
    *(pid_t *)place = first;
    return NULL;
}

static void thread_numbers(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, number, &numbers[i]) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(gettid() == getpid() && syscall(SYS_gettid) == getpid());
    for (int i = 0; i < 4; i++)
        CHECK(numbers[i] != getpid());
    errno = 0;
    CHECK(tgkill(getpid(), numbers[0], 0) == -1 && errno == ESRCH); // it has ended
    CHECK(tgkill(getpid(), getpid(), 77) == -1 && errno == EINVAL);
}

// A thread that blocks in a raw system call must not stop the others.
static int ends[2];

static void *write_later(void *unused) {
    (void)unused;
    CHECK(syscall(SYS_write, ends[1], "x", 1L) == 1);
    return NULL;
}

static void blocks_alone(void) {
    pthread_t thread;
    char byte = 0;
    CHECK(pipe(ends) == 0);
    CHECK(pthread_create(&thread, NULL, write_later, NULL) == 0);
    CHECK(syscall(SYS_read, ends[0], &byte, 1L) == 1 && byte == 'x');
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, write_later, NULL) == 0);
    struct pollfd one = {ends[0], POLLIN, 0};
    CHECK(syscall(SYS_poll, &one, 1L, -1L) == 1 && one.revents == POLLIN);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(syscall(SYS_close, ends[0]) == 0 && syscall(SYS_close, ends[1]) == 0);
    errno = 0;
    CHECK(syscall(SYS_close, ends[0]) == -1 && errno == EBADF);
}

static void others(void) {
    struct timespec short_time = {0, 1000}, wrong = {0, -1}, before, after;
    CHECK(syscall(SYS_getpid) == getpid());
    CHECK(syscall(SYS_sched_yield) == 0);
    CHECK(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &before) == 0);
    CHECK(syscall(SYS_nanosleep, &short_time, NULL) == 0);
    CHECK(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &short_time, NULL) == 0);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &after) == 0);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 2000);
    errno = 0;
    CHECK(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &wrong, NULL) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(syscall(100000L) == -1 && errno == ENOSYS);
}

int main(void) {
    thread_numbers();
    blocks_alone();
    others();
    return 0;
}
