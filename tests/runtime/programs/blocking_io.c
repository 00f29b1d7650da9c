// SPDX-License-Identifier: Apache-2.0
// flags: -D_FORTIFY_SOURCE=2 -O2
// A call that waits lets the others run: whoever makes it ready is another thread of the program.
#include "check.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

static void *write_one(void *unused) {
    (void)unused;
    CHECK(write(ends[1], "x", 1) == 1);
    return NULL;
}

// Runs `wait` while another thread writes a byte, which is then taken.
static void woken_by_a_thread(void (*wait)(void)) {
    pthread_t thread;
    char byte = 0;
    CHECK(pipe(ends) == 0);
    CHECK(pthread_create(&thread, NULL, write_one, NULL) == 0);
    wait();
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
    CHECK(pthread_join(thread, NULL) == 0);
    close(ends[0]);
    close(ends[1]);
}

static void by_read(void) {}

static void by_poll(void) {
    struct pollfd one = {ends[0], POLLIN, 0};
    CHECK(poll(&one, 1, -1) == 1);
    CHECK(one.revents == POLLIN);
}

static void by_ppoll(void) {
    struct pollfd one = {ends[0], POLLIN, 0};
    struct timespec limit = {60, 0};
    CHECK(ppoll(&one, 1, &limit, NULL) == 1);
}

static void by_select(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    FD_SET(ends[1], &set);
    fd_set write;
    FD_ZERO(&write);
    FD_CLR(ends[1], &set);
    CHECK(select(ends[0] + 1, &set, &write, NULL, NULL) == 1);
    CHECK(FD_ISSET(ends[0], &set));
}

static void by_epoll(void) {
    int instance = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = ends}, seen = {0};
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, ends[0], &event) == 0);
    CHECK(epoll_wait(instance, &seen, 1, -1) == 1);
    CHECK(seen.data.ptr == ends && seen.events == EPOLLIN);
    close(instance);
}

static void timeouts(void) {
    CHECK(pipe(ends) == 0);
    struct pollfd one = {ends[0], POLLIN, 0};
    CHECK(poll(&one, 1, 0) == 0);
    CHECK(poll(&one, 1, 20) == 0);
    struct timespec wrong = {0, -1}, some = {0, 1000};
    CHECK(ppoll(&one, 1, &wrong, NULL) == -1 && errno == EINVAL);
    CHECK(ppoll(&one, 1, &some, NULL) == 0);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timeval moment = {0, 1000};
    CHECK(select(ends[0] + 1, &set, NULL, NULL, &moment) == 0);
    CHECK(!FD_ISSET(ends[0], &set));
    CHECK(select(-1, NULL, NULL, NULL, &moment) == -1 && errno == EINVAL);
    FD_SET(ends[0], &set);
    close(ends[0]);
    CHECK(select(ends[0] + 1, &set, NULL, NULL, NULL) == -1 && errno == EBADF);
    close(ends[1]);
}

// --- sockets: a server and its client in one program

static int listener;

static void *serve(void *unused) {
    (void)unused;
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    int fd = accept(listener, (struct sockaddr *)&peer, &length);
    CHECK(fd >= 0 && peer.sin_family == AF_INET);
    char text[6] = "";
    CHECK(recv(fd, text, 5, MSG_WAITALL) == 5 && strcmp(text, "hello") == 0);
    struct iovec parts[2] = {{"you ", 4}, {"too", 3}};
    CHECK(writev(fd, parts, 2) == 7);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    close(fd);
    return NULL;
}

static void sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    pthread_t server;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    CHECK(pthread_create(&server, NULL, serve, NULL) == 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(send(fd, "hello", 5, 0) == 5);
    char text[16] = "";
    ssize_t got, have = 0;
    while ((got = read(fd, text + have, sizeof text - 1 - (size_t)have)) > 0)
        have += got;
    CHECK(got == 0 && strcmp(text, "you too") == 0);
    CHECK(pthread_join(server, NULL) == 0);
    close(fd);
    close(listener);
}

// --- children

static void *let_go(void *descriptor) {
    CHECK(write(*(int *)descriptor, "x", 1) == 1);
    return NULL;
}

static void children(void) {
    int gate[2], status = 0;
    pthread_t thread;
    CHECK(pipe(gate) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char byte;
        _exit(read(gate[0], &byte, 1) == 1 ? 7 : 1);
    }
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    CHECK(pthread_create(&thread, NULL, let_go, &gate[1]) == 0);
    CHECK(wait(&status) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(wait(&status) == -1 && errno == ECHILD);
    CHECK(waitpid(child, &status, 0) == -1 && errno == ECHILD);
    close(gate[0]);
    close(gate[1]);
}

static void child_by_waitid(void) {
    siginfo_t info;
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED) == 0);
    CHECK(info.si_pid == child && info.si_code == CLD_EXITED && info.si_status == 3);
}

static void events(void) {
    uint64_t value = 0;
    int fd = eventfd(0, EFD_NONBLOCK);
    CHECK(read(fd, &value, sizeof value) == -1 && errno == EAGAIN);
    CHECK(eventfd_write(fd, 5) == 0);
    CHECK(read(fd, &value, sizeof value) == sizeof value && value == 5);
    close(fd);
}

int main(void) {
    woken_by_a_thread(by_read);
    woken_by_a_thread(by_poll);
    woken_by_a_thread(by_ppoll);
    woken_by_a_thread(by_select);
    woken_by_a_thread(by_epoll);
    timeouts();
    sockets();
    children();
    child_by_waitid();
    events();
    return 0;
}
