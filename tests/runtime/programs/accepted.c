// SPDX-License-Identifier: Apache-2.0
// replayed
// An accepted connection: whether it waits can be changed in many ways, and its number may soon be
// that of something else.
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int listener, client, connection;

static void connect_both(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    client = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
    connection = accept(listener, NULL, NULL);
    CHECK(connection >= 0);
}

static bool is_empty(void) {
    char byte;
    return recv(connection, &byte, 1, 0) == -1 && errno == EAGAIN;
}

static void *answer(void *unused) {
    CHECK(write(client, "a", 1) == 1);
    return unused;
}

// Nothing is there yet: who does not wait for it gets none.
static bool waits(void) {
    pthread_t thread;
    char byte = 0;
    CHECK(pthread_create(&thread, NULL, answer, NULL) == 0);
    bool got = read(connection, &byte, 1) == 1 && byte == 'a';
    CHECK(pthread_join(thread, NULL) == 0);
    return got;
}

static void set_waiting(int fd, bool waiting) {
    CHECK(fcntl(fd, F_SETFL, O_RDWR | (waiting ? 0 : O_NONBLOCK)) == 0);
}

// --- whether it waits

static void by_its_own_number(void) {
    CHECK(waits() && waits());
    set_waiting(connection, false);
    CHECK(is_empty() && is_empty());
    set_waiting(connection, true);
    CHECK(waits());
    int on = 1, off = 0;
    CHECK(ioctl(connection, FIONBIO, &on) == 0 && is_empty());
    CHECK(ioctl(connection, FIONBIO, &off) == 0 && waits());
}

static void by_another_number(int other) {
    CHECK(waits());
    set_waiting(other, false);
    CHECK(is_empty());
    set_waiting(other, true);
    CHECK(waits());
    close(other);
}

static int passed_on(void) {
    int pair[2], got;
    char byte = 'b', room[CMSG_SPACE(sizeof got)] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    *head = (struct cmsghdr){CMSG_LEN(sizeof got), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &connection, sizeof connection);
    CHECK(sendmsg(pair[0], &message, 0) == 1);
    CHECK(recvmsg(pair[1], &message, 0) == 1);
    memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
    close(pair[0]);
    close(pair[1]);
    return got;
}

// --- what takes its number

static void is_a_file(int fd) {
    struct stat status;
    char text[4] = "";
    CHECK(fstat(fd, &status) == 0 && S_ISREG(status.st_mode));
    CHECK(write(fd, "abc", 3) == 3);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(read(fd, text, 4) == 3 && strcmp(text, "abc") == 0);
    close(fd);
}

static int file(void) {
    char name[] = "/tmp/accepted-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0 && unlink(name) == 0);
    return fd;
}

int main(void) {
    connect_both();
    by_its_own_number();
    by_another_number(passed_on());
    CHECK(waits());
    by_another_number(dup(connection));
    int number = connection;
    close(connection);
    CHECK(file() == number);
    is_a_file(number);
    close(client);
    close(listener);

    connect_both();
    CHECK(waits());
    FILE *stream = fdopen(connection, "r+");
    CHECK(stream && fclose(stream) == 0);
    CHECK(file() == connection);
    is_a_file(connection);
    close(client);
    close(listener);

    connect_both();
    CHECK(waits());
    int other = file();
    CHECK(dup2(other, connection) == connection);
    is_a_file(connection);
    close(other);
    close(client);
    return 0;
}
