// SPDX-License-Identifier: Apache-2.0
// epoll: whose data comes when descriptors are copied, closed and used again.
// replayed
#include "check.h"

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>

static int instance;

static int control(int op, int descriptor, uint64_t data) {
    return epoll_ctl(instance, op, descriptor,
                     &(struct epoll_event){.events = EPOLLIN, .data.u64 = data});
}

static uint64_t only_event(void) {
    struct epoll_event events[4];
    CHECK(epoll_wait(instance, events, 4, 0) == 1);
    return events[0].data.u64;
}

// What was registered is the open file under the number that it had.
static void copies(void) {
    int one[2], other[2];
    char byte;
    CHECK(pipe(one) == 0);
    int copy = dup(one[0]), number = one[0];
    CHECK(copy >= 0 && control(EPOLL_CTL_ADD, number, 1) == 0);
    CHECK(close(number) == 0 && pipe(other) == 0 && other[0] == number);
    CHECK(control(EPOLL_CTL_ADD, number, 2) == 0);
    CHECK(write(one[1], "x", 1) == 1 && only_event() == 1);
    CHECK(read(copy, &byte, 1) == 1 && write(other[1], "x", 1) == 1 && only_event() == 2);
    CHECK(control(EPOLL_CTL_MOD, number, 3) == 0 && only_event() == 3);
    CHECK(control(EPOLL_CTL_DEL, number, 0) == 0);
    CHECK(control(EPOLL_CTL_DEL, number, 0) == -1 && errno == ENOENT);
    for (int i = 0; i < 2; i++)
        CHECK(close(other[i]) == 0);
    CHECK(close(copy) == 0 && close(one[1]) == 0);
}

// Many that come and go under one number.
static void again(void) {
    for (uint64_t i = 0; i < 3000; i++) {
        int ends[2];
        CHECK(pipe(ends) == 0 && control(EPOLL_CTL_ADD, ends[0], i) == 0);
        CHECK(control(EPOLL_CTL_ADD, ends[0], i) == -1 && errno == EEXIST);
        if (i % 500 == 0)
            CHECK(write(ends[1], "x", 1) == 1 && only_event() == i);
        if (i % 2)
            CHECK(control(EPOLL_CTL_DEL, ends[0], 0) == 0);
        CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
    }
}

int main(void) {
    instance = epoll_create1(0);
    CHECK(instance >= 0);
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, 0, NULL) == -1 && errno == EFAULT);
    again();
    copies();
    return 0;
}
