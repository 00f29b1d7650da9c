// SPDX-License-Identifier: Apache-2.0
// Who talks to a socket without ever resting sees time pass as it really does.
// replayed
#include "check.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

static int64_t nanoseconds(const struct timespec *time) {
    return time->tv_sec * 1000000000ll + time->tv_nsec;
}

// Past everybody who might tell another one.
static int64_t real_time(void) {
    struct timespec now;
    long error = SYS_clock_gettime;
    __asm__ volatile("syscall"
                     : "+a"(error)
                     : "D"(CLOCK_MONOTONIC), "S"(&now)
                     : "rcx", "r11", "memory");
    CHECK(error == 0);
    return nanoseconds(&now);
}

static int64_t time_as_told(void) {
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return nanoseconds(&now);
}

static int to_itself(void) {
    int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof own;
    CHECK(bind(descriptor, (struct sockaddr *)&own, sizeof own) == 0);
    CHECK(getsockname(descriptor, (struct sockaddr *)&own, &size) == 0);
    CHECK(connect(descriptor, (struct sockaddr *)&own, sizeof own) == 0);
    return descriptor;
}

// What is heard is the same in a replay, whatever is said there.
static char say_and_hear(int descriptor, char byte) {
    struct pollfd one = {descriptor, POLLIN, 0};
    CHECK(send(descriptor, &byte, 1, 0) == 1);
    CHECK(poll(&one, 1, -1) == 1);
    CHECK(recv(descriptor, &byte, 1, 0) == 1);
    return byte;
}

// How much time really passes is another matter in a replay: that of the recording is asked about.
int main(void) {
    int descriptor = to_itself();
    int64_t real = real_time(), told = time_as_told(), passed;
    char kept_pace = 0;
    do {
        kept_pace = say_and_hear(descriptor, kept_pace);
        passed = time_as_told() - told;
        kept_pace |= passed > 10000000 && real_time() - real < 2 * passed;
    } while (passed < 50000000);
    CHECK(say_and_hear(descriptor, kept_pace));
    return 0;
}
