// SPDX-License-Identifier: Apache-2.0
// Threads that wait for each other's pipes while another process sends signals as fast as it can:
// none of them sees more of it than its handler shows.
// replayed
#include "check.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 200

static int there[2], back[2];
static atomic_int came;

static void count(int number) {
    (void)number;
    came++;
}

static pid_t start_storm(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return child;
    execl("/bin/sh", "sh", "-c", "while kill -USR1 $PPID; do :; done", (char *)NULL);
    _exit(1);
}

static void end_storm(pid_t child) {
    CHECK(kill(child, SIGKILL) == 0);
    int status;
    while (waitpid(child, &status, 0) == -1)
        CHECK(errno == EINTR);
    CHECK(WIFSIGNALED(status));
}

// Only who has a handler run in its wait is told so.
static void by_poll(int end) {
    struct pollfd one = {end, POLLIN, 0};
    int before = came, ready;
    while ((ready = poll(&one, 1, -1)) == -1) {
        CHECK(errno == EINTR && came > before);
        before = came;
    }
    CHECK(ready == 1 && one.revents == POLLIN);
}

static void by_epoll(int end) {
    struct epoll_event event = {.events = EPOLLIN};
    int instance = epoll_create1(0), before = came, ready;
    CHECK(instance >= 0 && epoll_ctl(instance, EPOLL_CTL_ADD, end, &event) == 0);
    while ((ready = epoll_wait(instance, &event, 1, -1)) == -1) {
        CHECK(errno == EINTR && came > before);
        before = came;
    }
    CHECK(ready == 1 && close(instance) == 0);
}

static void by_select(int end) {
    int before = came, ready;
    fd_set set;
    do {
        FD_ZERO(&set);
        FD_SET(end, &set);
        ready = select(end + 1, &set, NULL, NULL, NULL);
        CHECK(ready == 1 || (errno == EINTR && came > before));
        before = came;
    } while (ready == -1);
}

static void by_nothing(int end) {
    (void)end; // read waits
}

static void (*const waits[])(int) = {by_poll, by_epoll, by_select, by_nothing};

static void take(int end, int turn) {
    char byte;
    waits[turn % 4](end);
    CHECK(read(end, &byte, 1) == 1 && byte == (char)turn);
}

static void give(int end, int turn) {
    char byte = (char)turn;
    CHECK(write(end, &byte, 1) == 1);
}

static void *answer(void *unused) {
    for (int turn = 0; turn < TURNS; turn++) {
        take(there[0], turn);
        give(back[1], turn);
    }
    return unused;
}

int main(void) {
    pthread_t thread;
    struct sigaction counting = {.sa_handler = count, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &counting, NULL) == 0);
    pid_t storm = start_storm();
    while (!came) // lest it learns too late whose child it is
        usleep(1000);
    CHECK(pipe(there) == 0 && pipe(back) == 0); // after the fork: nobody else has them
    CHECK(pthread_create(&thread, NULL, answer, NULL) == 0);
    for (int turn = 0; turn < TURNS; turn++) {
        give(there[1], turn);
        take(back[0], turn);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    end_storm(storm);
    return 0;
}
