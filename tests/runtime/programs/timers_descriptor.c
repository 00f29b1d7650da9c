// SPDX-License-Identifier: Apache-2.0
// timerfd: read, polled, selected and in an epoll set with other descriptors; copies and settings.
// replayed
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#define MS 1000000

static int create(int flags) {
    int timer = timerfd_create(CLOCK_MONOTONIC, flags);
    CHECK(timer >= 0);
    return timer;
}

static void set(int timer, long first, long interval) {
    struct itimerspec setting = {{0, interval}, {0, first}};
    CHECK(timerfd_settime(timer, 0, &setting, NULL) == 0);
}

static void set_late(int timer) {
    CHECK(timerfd_settime(timer, 0, &(struct itimerspec){{0, 0}, {100, 0}}, NULL) == 0);
}

static uint64_t count_of(int timer) {
    uint64_t count = 0;
    CHECK(read(timer, &count, sizeof count) == sizeof count);
    return count;
}

static void bad_arguments(void) {
    struct itimerspec setting = {{0, 0}, {0, 1000000000}};
    int timer = create(0), ends[2];
    uint64_t count;
    CHECK(timerfd_create(1000, 0) == -1 && errno == EINVAL);
    CHECK(timerfd_create(CLOCK_MONOTONIC, 0x10000000) == -1 && errno == EINVAL);
    CHECK(timerfd_settime(timer, 0, &setting, NULL) == -1 && errno == EINVAL);
    CHECK(timerfd_settime(-1, 0, &(struct itimerspec){0}, NULL) == -1 && errno == EBADF);
    CHECK(pipe(ends) == 0);
    CHECK(timerfd_settime(ends[0], 0, &(struct itimerspec){0}, NULL) == -1 && errno == EINVAL);
    CHECK(timerfd_gettime(ends[0], &setting) == -1 && errno == EINVAL);
    set(timer, 1, 0);
    CHECK(read(timer, &count, 4) == -1 && errno == EINVAL);
    count = 1;
    CHECK(write(timer, &count, sizeof count) == -1 && errno == EINVAL);
    close(ends[0]);
    close(ends[1]);
    close(timer);
}

static void reading(void) {
    int timer = create(0);
    set(timer, MS, 0);
    CHECK(count_of(timer) == 1);
    set(timer, MS, MS);
    struct timespec rest = {0, 5 * MS};
    nanosleep(&rest, NULL);
    CHECK(count_of(timer) >= 4);
    CHECK(count_of(timer) >= 1);
    int copy = dup(timer);
    CHECK(close(timer) == 0 && count_of(copy) >= 1);
    set(copy, 2 * MS, 0);
    CHECK(count_of(copy) == 1);
    close(copy);
}

static void not_waiting(void) {
    int timer = create(TFD_NONBLOCK | TFD_CLOEXEC);
    uint64_t count;
    CHECK(fcntl(timer, F_GETFD) & FD_CLOEXEC);
    CHECK(read(timer, &count, sizeof count) == -1 && errno == EAGAIN);
    set(timer, 1, 0);
    struct pollfd one = {timer, POLLIN, 0};
    CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
    set_late(timer); // what was not read is forgotten
    CHECK(read(timer, &count, sizeof count) == -1 && errno == EAGAIN);
    close(timer);
}

static void what_is_left(void) {
    int timer = create(0);
    struct itimerspec setting = {{7, 0}, {100, 0}}, left;
    CHECK(timerfd_settime(timer, 0, &setting, NULL) == 0);
    CHECK(timerfd_gettime(timer, &left) == 0);
    CHECK(left.it_value.tv_sec >= 98 && left.it_interval.tv_sec == 7);
    setting = (struct itimerspec){{0, 0}, {0, 0}};
    CHECK(timerfd_settime(timer, 0, &setting, &left) == 0 && left.it_value.tv_sec >= 98);
    CHECK(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0);
    close(timer);
}

static void at_a_moment(void) {
    int timer = timerfd_create(CLOCK_REALTIME, 0);
    struct itimerspec setting = {.it_value = moment_in(CLOCK_REALTIME, 2 * MS)};
    CHECK(timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL) == 0);
    CHECK(count_of(timer) == 1 && has_passed(CLOCK_REALTIME, &setting.it_value));
    setting.it_value = long_ago;
    CHECK(timerfd_settime(timer, TFD_TIMER_ABSTIME, &setting, NULL) == 0);
    CHECK(count_of(timer) == 1);
    close(timer);
}

// The earlier timer first, though a descriptor that never becomes ready is waited for too.
static void several_at_once(void) {
    int ends[2], soon_timer = create(0), late_timer = create(0);
    CHECK(pipe(ends) == 0);
    set_late(late_timer);
    set(soon_timer, MS, 0);
    struct pollfd all[] = {{ends[0], POLLIN, 0}, {late_timer, POLLIN, 0}, {soon_timer, POLLIN, 0}};
    CHECK(poll(all, 3, -1) == 1 && all[2].revents == POLLIN && !all[1].revents);
    CHECK(count_of(soon_timer) == 1);

    fd_set read_set;
    FD_ZERO(&read_set);
    FD_SET(ends[0], &read_set);
    FD_SET(soon_timer, &read_set);
    set(soon_timer, MS, 0);
    CHECK(select(ends[1] + 1, &read_set, NULL, NULL, NULL) == 1);
    CHECK(FD_ISSET(soon_timer, &read_set) && !FD_ISSET(ends[0], &read_set));
    CHECK(count_of(soon_timer) == 1);

    int instance = epoll_create1(0);
    const int members[] = {ends[0], soon_timer, late_timer};
    for (int i = 0; i < 3; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = 10 + i};
        CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, members[i], &event) == 0);
    }
    set(soon_timer, MS, 0);
    struct epoll_event ready[3];
    CHECK(epoll_wait(instance, ready, 3, -1) == 1 && ready[0].data.u64 == 11);
    CHECK(count_of(soon_timer) == 1);
    CHECK(epoll_wait(instance, ready, 3, 2) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(epoll_wait(instance, ready, 3, -1) == 1 && ready[0].data.u64 == 10);
    close(instance);
    close(ends[0]);
    close(ends[1]);
    close(soon_timer);
    close(late_timer);
}

static int ticks[2];

static void *tick(void *argument) {
    int number = (int)(intptr_t)argument, timer = create(0);
    set(timer, MS, MS);
    while (ticks[number] < 5)
        ticks[number] += (int)count_of(timer);
    close(timer);
    return NULL;
}

static void threads(void) {
    pthread_t both[2];
    for (intptr_t i = 0; i < 2; i++)
        CHECK(pthread_create(&both[i], NULL, tick, (void *)i) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(both[i], NULL) == 0);
    CHECK(ticks[0] >= 5 && ticks[1] >= 5);
}

// A child has it too, and goes on when the parent has closed it; each expiry counts once.
static void forked(void) {
    int timer = create(0), status;
    set(timer, 4 * MS, 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(count_of(timer) == 1 ? 3 : 4);
    CHECK(close(timer) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);

    timer = create(0);
    set(timer, 4 * MS, 0);
    CHECK((child = fork()) >= 0);
    if (child == 0) {
        struct pollfd one = {timer, POLLIN, 0};
        _exit(poll(&one, 1, -1) == 1 ? 3 : 4);
    }
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(count_of(timer) == 1);
    struct itimerspec left = {{1, 0}, {1, 0}};
    CHECK(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0);
    CHECK(left.it_value.tv_nsec == 0);
    close(timer);
}

int main(void) {
    bad_arguments();
    forked();
    reading();
    not_waiting();
    what_is_left();
    at_a_moment();
    several_at_once();
    threads();
    return 0;
}
