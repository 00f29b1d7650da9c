// SPDX-License-Identifier: Apache-2.0
// A timerfd is waited for together with a socket that stays silent, and with one that does not.
// replayed
#include "check.h"

#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static const struct timespec SOON = {0, 2000000}, NEVER = {0, 0};

static int listening(void) {
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(descriptor >= 0 && listen(descriptor, 1) == 0);
    return descriptor;
}

static int timer(struct timespec interval) {
    int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(descriptor >= 0);
    CHECK(timerfd_settime(descriptor, 0, &(struct itimerspec){interval, SOON}, NULL) == 0);
    return descriptor;
}

static void take(int descriptor) {
    uint64_t times = 0;
    CHECK(read(descriptor, &times, sizeof times) == sizeof times && times > 0);
}

static void test_poll_of_a_timer_that_goes_on(void) {
    struct pollfd both[] = {{listening(), POLLIN, 0}, {timer(SOON), POLLIN, 0}};
    for (int i = 0; i < 4; i++) {
        CHECK(poll(both, 2, -1) == 1 && !both[0].revents && both[1].revents == POLLIN);
        take(both[1].fd);
    }
}

static void test_poll_of_a_timer_that_expires_once(void) {
    for (int i = 0; i < 4; i++) {
        struct pollfd both[] = {{listening(), POLLIN, 0}, {timer(NEVER), POLLIN, 0}};
        CHECK(poll(both, 2, -1) == 1 && both[1].revents == POLLIN);
        take(both[1].fd);
        CHECK(poll(both, 2, 1) == 0);
        close(both[0].fd);
        close(both[1].fd);
    }
}

static void test_epoll(void) {
    int instance = epoll_create1(0), silent = listening(), ticks = timer(SOON);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = silent};
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, silent, &event) == 0);
    event.data.fd = ticks;
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, ticks, &event) == 0);
    for (int i = 0; i < 4; i++) {
        CHECK(epoll_wait(instance, &event, 1, -1) == 1 && event.data.fd == ticks);
        take(ticks);
    }
}

int main(void) {
    test_poll_of_a_timer_that_goes_on();
    test_poll_of_a_timer_that_expires_once();
    test_epoll();
    return 0;
}
