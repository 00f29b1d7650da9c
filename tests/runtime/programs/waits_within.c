// SPDX-License-Identifier: Apache-2.0
// replayed
// Pipes, socket pairs and eventfds within the program: large writes, limits, peeking, closing.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#define LARGE 300000

static int ends[2];
static char *large;

// --- writes larger than what the other side has room for

static void *read_slowly(void *descriptor) {
    int fd = *(int *)descriptor;
    char part[7001];
    size_t have = 0;
    ssize_t got;
    while (have < LARGE && (got = read(fd, part, sizeof part)) > 0) {
        CHECK(memcmp(part, large + have, (size_t)got) == 0);
        have += (size_t)got;
    }
    CHECK(have == LARGE);
    return NULL;
}

static void whole_writes(int from, int to, bool in_parts) {
    pthread_t reader;
    CHECK(pthread_create(&reader, NULL, read_slowly, &from) == 0);
    struct iovec parts[3] = {{large, 1}, {large + 1, 100000}, {large + 100001, LARGE - 100001}};
    if (in_parts)
        CHECK(writev(to, parts, 3) == LARGE);
    else
        CHECK(write(to, large, LARGE) == LARGE);
    CHECK(pthread_join(reader, NULL) == 0);
}

static void large_writes(void) {
    large = malloc(LARGE);
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 + i / 256);
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        CHECK(pipe(ends) == 0);
        whole_writes(ends[0], ends[1], in_parts);
        close(ends[0]);
        close(ends[1]);
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        whole_writes(ends[0], ends[1], in_parts);
        close(ends[0]);
        close(ends[1]);
    }
    free(large);
}

// --- what does not wait says so

static void not_waiting(void) {
    char byte;
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
    static char block[65536];
    CHECK(write(ends[1], block, sizeof block) == sizeof block);
    CHECK(write(ends[1], &byte, 1) == -1 && errno == EAGAIN);
    int waiting = 0;
    CHECK(ioctl(ends[0], FIONREAD, &waiting) == 0 && waiting == sizeof block);
    close(ends[0]);
    close(ends[1]);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(recv(ends[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
    CHECK(send(ends[1], "ab", 2, MSG_DONTWAIT) == 2);
    CHECK(recv(ends[0], &byte, 1, MSG_PEEK) == 1 && byte == 'a');
    CHECK(recv(ends[0], &byte, 1, 0) == 1 && byte == 'a');
    CHECK(read(ends[0], &byte, 0) == 0);
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'b');
    CHECK(read(ends[0], &byte, 1) == 0);
    close(ends[0]);
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EBADF);
    CHECK(write(ends[0], &byte, 1) == -1 && errno == EBADF);
    volatile int negative = -1;
    struct iovec none = {NULL, 0};
    CHECK(writev(1, &none, negative) == -1 && errno == EINVAL);
}

// --- the time that a socket waits

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void limits(void) {
    struct timeval limit = {0, 30000};
    char byte;
    static char block[1 << 20];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
    int64_t before = now();
    CHECK(recv(ends[0], &byte, 1, 0) == -1 && errno == EAGAIN);
    CHECK(now() - before >= 29000000);
    ssize_t part = write(ends[0], block, sizeof block);
    CHECK(part > 0 && part < (ssize_t)sizeof block); // what there was room for
    CHECK(write(ends[0], block, 1) == -1 && errno == EAGAIN);
    close(ends[0]);
    close(ends[1]);
}

// --- all, or as much as comes

static void *send_in_parts(void *unused) {
    (void)unused;
    for (int i = 0; i < 10; i++)
        CHECK(send(ends[1], "0123456789" + i, 1, 0) == 1);
    return NULL;
}

static void all_at_once(void) {
    pthread_t sender;
    char text[12] = "", more[8] = "";
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(pthread_create(&sender, NULL, send_in_parts, NULL) == 0);
    struct iovec parts[2] = {{text, 3}, {text + 3, 4}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    CHECK(recvmsg(ends[0], &message, MSG_WAITALL) == 7 && strcmp(text, "0123456") == 0);
    CHECK(recv(ends[0], more, 3, MSG_WAITALL) == 3 && strcmp(more, "789") == 0);
    CHECK(pthread_join(sender, NULL) == 0);
    close(ends[1]);
    CHECK(recv(ends[0], more, 3, MSG_WAITALL) == 0);
    close(ends[0]);
}

// --- several messages

static void *send_messages(void *unused) {
    (void)unused;
    struct iovec parts[3] = {{"one", 3}, {"two", 3}, {"three", 5}};
    struct mmsghdr messages[3];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 3; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    CHECK(sendmmsg(ends[1], messages, 3, 0) == 3);
    CHECK(messages[2].msg_len == 5);
    return NULL;
}

static void several_messages(void) {
    pthread_t sender;
    char text[4][8] = {"", "", "", ""};
    struct iovec parts[4];
    struct mmsghdr messages[4];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < 4; i++) {
        parts[i] = (struct iovec){text[i], sizeof text[i] - 1};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    CHECK(recvmmsg(ends[0], messages, 4, MSG_DONTWAIT, NULL) == -1 && errno == EAGAIN);
    struct timespec wrong = {0, -1};
    CHECK(recvmmsg(ends[0], messages, 4, 0, &wrong) == -1 && errno == EINVAL);
    CHECK(pthread_create(&sender, NULL, send_messages, NULL) == 0);
    CHECK(recvmmsg(ends[0], messages, 2, 0, NULL) == 2);
    CHECK(strcmp(text[0], "one") == 0 && strcmp(text[1], "two") == 0 && messages[1].msg_len == 3);
    CHECK(recvmmsg(ends[0], messages + 2, 2, MSG_WAITFORONE, NULL) == 1);
    CHECK(strcmp(text[2], "three") == 0);
    CHECK(pthread_join(sender, NULL) == 0);
    close(ends[0]);
    close(ends[1]);
}

// --- eventfds

static int events;

static void *add_five(void *unused) {
    (void)unused;
    CHECK(eventfd_write(events, 5) == 0);
    return NULL;
}

static void eventfds(void) {
    pthread_t thread;
    eventfd_t value = 0;
    events = eventfd(0, 0);
    CHECK(pthread_create(&thread, NULL, add_five, NULL) == 0);
    CHECK(eventfd_read(events, &value) == 0 && value == 5);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(eventfd_write(events, UINT64_MAX - 1) == 0); // full: who writes now waits
    CHECK(pthread_create(&thread, NULL, add_five, NULL) == 0);
    CHECK(eventfd_read(events, &value) == 0 && value == UINT64_MAX - 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(write(events, &value, 3) == -1 && errno == EINVAL);
    CHECK(eventfd(0, 12345) == -1 && errno == EINVAL);
    close(events);
}

// --- a descriptor is closed under who waits for it

static void *read_one(void *descriptor) {
    char byte = 0;
    CHECK(read(*(int *)descriptor, &byte, 1) == 1 && byte == 'x');
    return NULL;
}

static pthread_barrier_t both;

static void *poll_one(void *descriptor) {
    struct pollfd one = {*(int *)descriptor, POLLIN, 0};
    pthread_barrier_wait(&both);
    int found = poll(&one, 1, -1);
    CHECK(found == 1 && one.fd == *(int *)descriptor);
    CHECK(one.revents == POLLIN || one.revents == POLLNVAL); // it may have come too late
    return NULL;
}

// What the thread waits for stays while it waits, though the number leads elsewhere.
static void closed_meanwhile(void) {
    pthread_t thread;
    CHECK(pipe(ends) == 0);
    int copy = dup(ends[0]);
    pthread_barrier_init(&both, NULL, 2);
    CHECK(pthread_create(&thread, NULL, poll_one, &copy) == 0);
    pthread_barrier_wait(&both);
    sched_yield();
    CHECK(close(copy) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK(close(ends[0]) == 0);
    errno = 0;
    CHECK(close(ends[0]) == -1 && errno == EBADF);
    close(ends[1]);
}

static void copies(void) {
    pthread_t thread;
    CHECK(pipe(ends) == 0);
    int copy = fcntl(ends[0], F_DUPFD, 50), other = fcntl(ends[0], F_DUPFD_CLOEXEC, 60);
    CHECK(copy == 50 && other == 60 && fcntl(other, F_GETFD) == FD_CLOEXEC);
    CHECK(dup2(copy, copy) == copy && dup2(77, 5) == -1 && errno == EBADF);
    CHECK(dup3(copy, copy, 0) == -1 && errno == EINVAL);
    CHECK(dup3(copy, 70, O_CLOEXEC) == 70);
    CHECK(pthread_create(&thread, NULL, read_one, &(int){70}) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(close_range(50, 80, 0) == 0);
    CHECK(close_range(80, 50, 0) == -1 && errno == EINVAL);
    CHECK(fcntl(70, F_GETFD) == -1 && errno == EBADF);
    close(ends[0]);
    close(ends[1]);
}

// --- epoll over what is within

static void *wait_for_event(void *instance) {
    struct epoll_event event = {0};
    struct timespec limit = {60, 0};
    CHECK(epoll_pwait2(*(int *)instance, &event, 1, &limit, NULL) == 1);
    CHECK(event.data.ptr == ends && event.events == EPOLLIN);
    return NULL;
}

static void epolls(void) {
    pthread_t thread;
    int instance = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = ends}, seen;
    CHECK(epoll_create(0) == -1 && errno == EINVAL);
    CHECK(pipe(ends) == 0);
    CHECK(epoll_wait(instance, &seen, 1, 5) == 0);
    CHECK(pthread_create(&thread, NULL, wait_for_event, &(int){dup(instance)}) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, ends[0], &event) == -1 && errno == EEXIST);
    CHECK(epoll_ctl(instance, EPOLL_CTL_DEL, ends[0], NULL) == 0);
    CHECK(epoll_ctl(instance, EPOLL_CTL_MOD, ends[0], &event) == -1 && errno == ENOENT);
    CHECK(epoll_wait(instance, &seen, 1, 0) == 0);
    CHECK(epoll_wait(instance, &seen, 0, 0) == -1 && errno == EINVAL);
    CHECK(epoll_wait(ends[0], &seen, 1, 0) == -1 && errno == EINVAL);
    struct timespec wrong = {-1, 0};
    CHECK(epoll_pwait2(instance, &seen, 1, &wrong, NULL) == -1 && errno == EINVAL);
    close(instance);
    close(ends[0]);
    close(ends[1]);
}

// --- a reader that is gone

static volatile sig_atomic_t broken;

static void note(int number) {
    broken = number;
}

static void readers_gone(void) {
    CHECK(signal(SIGPIPE, note) != SIG_ERR);
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && broken == SIGPIPE);
    close(ends[1]);
    broken = 0;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    close(ends[0]);
    CHECK(send(ends[1], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE && !broken);
    CHECK(send(ends[1], "x", 1, 0) == -1 && errno == EPIPE && broken == SIGPIPE);
    broken = 0;
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && !broken);
    CHECK(signal(SIGPIPE, note) != SIG_ERR);
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE && !broken);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(broken == SIGPIPE);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 0);
    close(ends[1]);
}

int main(void) {
    large_writes();
    not_waiting();
    limits();
    all_at_once();
    several_messages();
    eventfds();
    closed_meanwhile();
    copies();
    epolls();
    readers_gone();
    return 0;
}
