// SPDX-License-Identifier: Apache-2.0
// timed WHAT: waits for what never comes, until its time is over, and says what it was told.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIME = 20 }; // milliseconds

static const struct timespec until = {0, TIME * 1000000};
static struct timeval left = {0, TIME * 1000};
static int ends[2];

static int in_poll(void) {
    struct pollfd polled = {ends[0], POLLIN, 7};
    int found = poll(&polled, 1, TIME);
    return found + polled.revents;
}

static int in_ppoll(void) {
    struct pollfd polled = {ends[0], POLLIN, 7};
    int found = ppoll(&polled, 1, &until, NULL);
    return found + polled.revents;
}

static int in_select(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    int found = select(ends[0] + 1, &set, NULL, NULL, &left);
    return found + (FD_ISSET(ends[0], &set) ? 1 : 0);
}

static int in_epoll(void) {
    struct epoll_event event = {.events = EPOLLIN};
    int watches = epoll_create1(0);
    epoll_ctl(watches, EPOLL_CTL_ADD, ends[0], &event);
    return epoll_wait(watches, &event, 1, TIME);
}

static int in_recv(void) {
    char byte;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &left, sizeof left);
    return recv(pair[0], &byte, 1, 0) < 0 && errno == EAGAIN ? 0 : 1;
}

static int in_sigtimedwait(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return sigtimedwait(&set, NULL, &until) < 0 && errno == EAGAIN ? 0 : 1;
}

static int in_semtimedop(void) {
    struct sembuf down = {0, -1, 0};
    int set = semget(IPC_PRIVATE, 1, 0600);
    return semtimedop(set, &down, 1, &until) < 0 && errno == EAGAIN ? 0 : 1;
}

// A child that nobody asked about ends meanwhile.
static int resumed(void) {
    if (fork() == 0)
        _exit(0);
    return in_poll();
}

// And then comes what is waited for.
static int told(void) {
    struct pollfd polled = {ends[0], POLLIN, 0};
    if (fork() == 0)
        _exit(0);
    if (fork() == 0)
        _exit(write(ends[1], "", 1) != 1);
    return poll(&polled, 1, 60 * 1000) - 1;
}

static const struct {
    const char *name;
    int (*wait)(void);
} kinds[] = {{"poll", in_poll},
             {"ppoll", in_ppoll},
             {"select", in_select},
             {"epoll", in_epoll},
             {"recv", in_recv},
             {"sigtimedwait", in_sigtimedwait},
             {"semtimedop", in_semtimedop},
             {"resumed", resumed},
             {"told", told}};

int main(int count, char **words) {
    if (count != 2 || pipe(ends) < 0)
        return 64;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(words[1], kinds[i].name) == 0)
            printf("%d\n", kinds[i].wait());
    fflush(stdout);
    while (wait(NULL) > 0)
        ;
    return fork() < 0; // and a last turn, of another process
}
