// SPDX-License-Identifier: Apache-2.0
// Sleeps where nobody can wake it, or where only time does: then it ends with 7.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WOKEN = 7, MILLISECONDS = 400 };

static const struct timespec soon = {0, MILLISECONDS * 1000000L};

static void need(int fine) {
    if (!fine) {
        perror("asleep");
        exit(1);
    }
}

static void woken(int number) {
    (void)number;
    _exit(WOKEN);
}

static int timer(void) {
    struct itimerspec when = {{0, 0}, soon};
    int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    need(timerfd_settime(descriptor, 0, &when, NULL) == 0);
    return descriptor;
}

static int watch(int descriptor) {
    int all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    need(epoll_ctl(all, EPOLL_CTL_ADD, descriptor, &event) == 0);
    return all;
}

static void wait_at(int all, int timeout) {
    struct epoll_event event;
    need(epoll_wait(all, &event, 1, timeout) >= 0);
}

static void read_one(int descriptor) {
    char bytes[256];
    need(read(descriptor, bytes, sizeof bytes) >= 0 || errno == EAGAIN);
}

static int pair(int sort) {
    int ends[2];
    need(sort ? socketpair(sort, SOCK_STREAM, 0, ends) == 0 : pipe(ends) == 0);
    return ends[0];
}

static void *wait_for_ever(void *lock) {
    pthread_mutex_lock(lock);
    return NULL;
}

static int is(const char *word, const char *what) {
    return strcmp(word, what) == 0;
}

static void by_nobody(const char *what) {
    if (is(what, "fifo")) {
        need(mkfifo("fifo", 0600) == 0);
        need(open("fifo", O_RDONLY) >= 0);
    } else if (is(what, "pipe")) {
        read_one(pair(0));
    } else if (is(what, "socket pair")) {
        read_one(pair(AF_UNIX));
    } else if (is(what, "flock")) {
        need(flock(open("lock", O_RDWR | O_CREAT, 0600), LOCK_EX) == 0);
        flock(open("lock", O_RDWR), LOCK_EX);
    } else if (is(what, "poll")) {
        struct pollfd asked[2] = {{pair(0), POLLIN, 0}, {eventfd(0, 0), POLLIN, 0}};
        poll(asked, 2, -1);
    } else if (is(what, "epoll of epoll")) {
        wait_at(watch(watch(pair(AF_UNIX))), -1);
    } else if (is(what, "signal descriptor")) {
        sigset_t set;
        sigemptyset(&set);
        read_one(signalfd(-1, &set, 0));
    } else if (is(what, "message")) {
        char message[64];
        msgrcv(msgget(IPC_PRIVATE, 0600), message, 8, 0, 0);
    } else if (is(what, "child")) {
        if (fork() == 0)
            pause();
        wait(NULL);
    } else if (is(what, "stopped child")) {
        if (fork() == 0)
            raise(SIGSTOP);
        wait(NULL);
    } else if (is(what, "thread")) {
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        pthread_t thread;
        pthread_mutex_lock(&lock);
        pthread_create(&thread, NULL, wait_for_ever, &lock);
        read_one(pair(0));
    }
}

static void by_time(const char *what) {
    struct itimerval when = {{0, 0}, {0, MILLISECONDS * 1000L}};
    struct timeval most = when.it_value;
    signal(SIGALRM, woken);
    if (is(what, "alarm")) {
        setitimer(ITIMER_REAL, &when, NULL);
        pause();
    } else if (is(what, "timer of the parent")) {
        setitimer(ITIMER_REAL, &when, NULL);
        if (fork() == 0)
            pause();
        wait(NULL);
    } else if (is(what, "timer")) {
        timer_t made;
        struct itimerspec then = {{0, 0}, soon};
        need(timer_create(CLOCK_MONOTONIC, NULL, &made) == 0);
        need(timer_settime(made, 0, &then, NULL) == 0);
        read_one(pair(0));
    } else if (is(what, "timer descriptor")) {
        wait_at(watch(watch(timer())), -1);
    } else if (is(what, "poll")) {
        struct pollfd asked = {pair(0), POLLIN, 0};
        need(poll(&asked, 1, MILLISECONDS) == 0);
    } else if (is(what, "epoll")) {
        wait_at(watch(pair(0)), MILLISECONDS);
    } else if (is(what, "socket")) {
        int end = pair(AF_UNIX);
        need(setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) == 0);
        read_one(end);
    } else if (is(what, "futex")) {
        int word = 0;
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, NULL, 0);
    } else if (is(what, "own futex")) {
        int word = 0;
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0);
    }
    exit(WOKEN);
}

int main(int count, char **words) {
    need(count == 3);
    (is(words[1], "nobody") ? by_nobody : by_time)(words[2]);
    return 0;
}
