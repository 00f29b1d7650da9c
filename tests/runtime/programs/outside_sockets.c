// SPDX-License-Identifier: Apache-2.0
// replayed
// Connections that another process could have made: accept and connect, refused, full, in progress,
// late; descriptors that come through a socket.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int listen_at(struct sockaddr_in *address, int backlog) {
    socklen_t length = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(bind(fd, (struct sockaddr *)address, sizeof *address) == 0);
    CHECK(listen(fd, backlog) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)address, &length) == 0);
    return fd;
}

static struct sockaddr_in address;
static int listener;

// --- a blocking connection, accepted by another thread

static void *accept_one(void *unused) {
    (void)unused;
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    int fd = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_CLOEXEC);
    CHECK(fd >= 0 && length == sizeof peer && peer.sin_family == AF_INET);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC && !(fcntl(fd, F_GETFL) & O_NONBLOCK));
    char text[4] = "";
    CHECK(recv(fd, text, 3, MSG_WAITALL) == 3 && strcmp(text, "abc") == 0);
    CHECK(send(fd, "de", 2, 0) == 2);
    close(fd);
    return NULL;
}

static void blocking(void) {
    pthread_t thread;
    char text[3] = "";
    int waiting = -1;
    listener = listen_at(&address, 4);
    CHECK(pthread_create(&thread, NULL, accept_one, NULL) == 0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == -1 && errno == EISCONN);
    CHECK(write(fd, "abc", 3) == 3);
    CHECK(recv(fd, text, 1, MSG_PEEK) == 1 && text[0] == 'd');
    CHECK(ioctl(fd, FIONREAD, &waiting) == 0 && waiting == 2);
    CHECK(recv(fd, text, 2, 0) == 2 && strcmp(text, "de") == 0);
    CHECK(recv(fd, text, 2, 0) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    close(fd);
    close(listener);
}

// --- refused, or wrong from the start

static void refused(void) {
    struct sockaddr_in nobody;
    close(listen_at(&nobody, 1)); // its port is free again
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&nobody, sizeof nobody) == -1 && errno == ECONNREFUSED);
    CHECK(connect(-1, (struct sockaddr *)&nobody, sizeof nobody) == -1 && errno == EBADF);
    CHECK(connect(fd, (struct sockaddr *)&nobody, 1) == -1 && errno == EINVAL);
    CHECK(accept(fd, NULL, NULL) == -1 && errno == EINVAL); // it does not listen
    char byte;
    CHECK(recv(fd, &byte, 1, 0) == -1 && errno == ENOTCONN);
    close(fd);
    int pair[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(accept(pair[0], NULL, NULL) == -1 && errno == EINVAL);
    close(pair[0]);
    close(pair[1]);
    fd = listen_at(&nobody, 1);
    CHECK(read(fd, &byte, 1) == -1 && errno == ENOTCONN);
    CHECK(recv(fd, &byte, 1, 0) == -1 && errno == ENOTCONN);
    close(fd);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    CHECK(accept(fd, NULL, NULL) == -1 && errno == EOPNOTSUPP);
    close(fd);
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&path, sizeof path) == -1 && errno == ENOENT);
    close(fd);
    CHECK(pipe((int[2]){0, 0}) == 0);
    CHECK(accept(0, NULL, NULL) == -1 && errno == ENOTSOCK);
}

// --- not waiting

static void not_waiting(void) {
    int error = -1;
    socklen_t length = sizeof error;
    listener = listen_at(&address, 4);
    CHECK(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
    CHECK(accept(listener, NULL, NULL) == -1 && errno == EAGAIN);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        CHECK(errno == EINPROGRESS);
        struct pollfd one = {fd, POLLOUT, 0};
        CHECK(poll(&one, 1, -1) == 1 && one.revents & POLLOUT);
    }
    CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0);
    struct pollfd one = {listener, POLLIN, 0};
    CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
    int other = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    char byte;
    CHECK(other >= 0 && read(other, &byte, 1) == -1 && errno == EAGAIN);
    close(other);
    close(fd);
    close(listener);
}

// --- limits of time

static void late(void) {
    struct timeval limit = {0, 20000}, none = {0, 0};
    char byte;
    listener = listen_at(&address, 4);
    CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(accept(listener, NULL, NULL) == -1 && errno == EAGAIN);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
    int other = accept(listener, NULL, NULL);
    CHECK(other >= 0);
    CHECK(read(fd, &byte, 1) == -1 && errno == EAGAIN);
    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0);
    CHECK(write(other, "x", 1) == 1);
    CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
    close(other);
    close(fd);
    close(listener);
}

// --- a queue that is full

static struct sockaddr_un local;

static void *accept_three(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) {
        int fd = accept(listener, NULL, NULL);
        CHECK(fd >= 0);
        close(fd);
    }
    return NULL;
}

static void full(void) {
    pthread_t thread;
    int fds[3];
    socklen_t length = sizeof local;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    local.sun_family = AF_UNIX;
    CHECK(bind(listener, (struct sockaddr *)&local, sizeof(sa_family_t)) == 0); // any free name
    CHECK(getsockname(listener, (struct sockaddr *)&local, &length) == 0);
    CHECK(listen(listener, 0) == 0);
    CHECK(pthread_create(&thread, NULL, accept_three, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(connect(fds[i], (struct sockaddr *)&local, length) == 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    close(listener);
}

// --- descriptors that come through a socket

static void pass(int by, int fd) {
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {"d", 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    CHECK(sendmsg(by, &message, 0) == 1);
}

static int taken_from(int by) {
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    CHECK(recvmsg(by, &message, MSG_CMSG_CLOEXEC) == 1 && byte == 'd');
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    CHECK(rights && rights->cmsg_type == SCM_RIGHTS);
    int fd;
    memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    return fd;
}

static void descriptors(void) {
    int pair[2], ends[2];
    char text[8] = "";
    struct stat status;
    socklen_t length = sizeof local;
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&local, 0, sizeof local);
    local.sun_family = AF_UNIX;
    CHECK(bind(listener, (struct sockaddr *)&local, sizeof(sa_family_t)) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&local, &length) == 0);
    CHECK(listen(listener, 1) == 0);
    pair[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(connect(pair[0], (struct sockaddr *)&local, length) == 0);
    pair[1] = accept(listener, NULL, NULL);
    CHECK(pipe(ends) == 0);
    pass(pair[0], ends[0]);
    int fd = taken_from(pair[1]);
    CHECK(fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode));
    CHECK(write(ends[1], "through", 7) == 7);
    CHECK(read(fd, text, 7) == 7 && strcmp(text, "through") == 0);
    close(fd);
    int file = open("/proc/self/exe", O_RDONLY);
    pass(pair[0], file);
    fd = taken_from(pair[1]);
    CHECK(pread(fd, text, 4, 0) == 4 && memcmp(text, "\177ELF", 4) == 0);
    CHECK(fstat(fd, &status) == 0 && S_ISREG(status.st_mode));
    close(fd);
    close(file);
    close(ends[0]);
    close(ends[1]);
    close(pair[0]);
    close(pair[1]);
    close(listener);
}

// --- a handler runs while a connection is awaited

static void ignore(int number) {
    (void)number;
}

static pthread_t waiter;

static void *interrupt(void *unused) {
    (void)unused;
    CHECK(pthread_kill(waiter, SIGUSR1) == 0);
    return NULL;
}

static void interrupted(void) {
    struct sigaction action = {.sa_handler = ignore};
    struct timeval limit = {60, 0};
    pthread_t thread;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    waiter = pthread_self();
    listener = listen_at(&address, 4);
    CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, interrupt, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    struct pollfd one = {listener, POLLIN, 0};
    sigset_t none;
    sigemptyset(&none);
    CHECK(ppoll(&one, 1, NULL, &none) == -1 && errno == EINTR); // it was pending
    close(listener);
}

int main(void) {
    blocking();
    refused();
    not_waiting();
    late();
    full();
    descriptors();
    interrupted();
    return 0;
}
