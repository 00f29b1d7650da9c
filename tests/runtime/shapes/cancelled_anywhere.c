// SPDX-License-Identifier: Apache-2.0
// A thread is cancelled in each call that may block and is a cancellation point; cleanup handlers
// run.
#include "team.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static int ends[2], full[2], sockets[2], listening, poller;
static sem_t begun, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t endless;
static pid_t child;
static char buffer[1 << 16];
static const struct timespec hour = {3600, 0};

static void in_sleep(void) {
    sleep(3600);
}
static void in_usleep(void) {
    usleep(900000000);
}
static void in_nanosleep(void) {
    nanosleep(&hour, NULL);
}
static void in_clock_nanosleep(void) {
    clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL);
}
static void in_pause(void) {
    pause();
}
static void in_read(void) {
    CHECK(read(ends[0], buffer, 1) != 1);
}
static void in_write(void) {
    CHECK(write(full[1], buffer, sizeof buffer) < 0);
}
static void in_poll(void) {
    struct pollfd fd = {ends[0], POLLIN, 0};
    poll(&fd, 1, -1);
}
static void in_ppoll(void) {
    struct pollfd fd = {ends[0], POLLIN, 0};
    ppoll(&fd, 1, &hour, NULL);
}
static void in_select(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    select(ends[0] + 1, &set, NULL, NULL, NULL);
}
static void in_epoll(void) {
    struct epoll_event event;
    epoll_wait(poller, &event, 1, -1);
}
static void in_recv(void) {
    recv(sockets[0], buffer, 1, 0);
}
static void in_recvmsg(void) {
    struct iovec part = {buffer, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    recvmsg(sockets[0], &message, 0);
}
static void in_accept(void) {
    accept(listening, NULL, NULL);
}
static void in_sem_wait(void) {
    sem_wait(&never);
}
static void in_sem_timedwait(void) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 3600;
    sem_timedwait(&never, &when);
}
static void unlock(void *unused) {
    (void)unused;
    pthread_mutex_unlock(&mutex);
}
static void in_cond_wait(void) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
}
static void in_join(void) {
    pthread_join(endless, NULL);
}
static void in_sigwait(void) {
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &number);
}
static void in_sigtimedwait(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigtimedwait(&set, NULL, &hour);
}
static void in_sigsuspend(void) {
    sigset_t set;
    sigemptyset(&set);
    sigsuspend(&set);
}
static void in_waitpid(void) {
    waitpid(child, NULL, 0);
}
static void in_wait(void) {
    wait(NULL);
}
static void (*const calls[])(void) = {
    in_sleep,   in_usleep,       in_nanosleep,  in_clock_nanosleep, in_pause,     in_read,
    in_write,   in_poll,         in_ppoll,      in_select,          in_epoll,     in_recv,
    in_recvmsg, in_accept,       in_sem_wait,   in_sem_timedwait,   in_cond_wait, in_join,
    in_sigwait, in_sigtimedwait, in_sigsuspend, in_waitpid,         in_wait,
};

static void note(void *done) {
    ++*(int *)done;
}

static int cleaned;

static void *blocks(void *call) {
    pthread_cleanup_push(note, &cleaned);
    sem_post(&begun);
    (*(void (*const *)(void))call)();
    pthread_cleanup_pop(1);
    return NULL;
}

static void *waits_for_ever(void *unused) {
    for (;;)
        sem_wait(&never);
    return unused;
}

static void prepare(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN};
    sem_init(&begun, 0, 0);
    sem_init(&never, 0, 0);
    CHECK(pipe(ends) == 0 && pipe(full) == 0);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listening, (struct sockaddr *)&address, sizeof address.sun_family) == 0);
    CHECK(listen(listening, 1) == 0);
    poller = epoll_create1(0);
    CHECK(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) == 0);
    fcntl(full[1], F_SETFL, O_NONBLOCK);
    while (write(full[1], buffer, sizeof buffer) > 0)
        ;
    fcntl(full[1], F_SETFL, 0);
}

int main(void) {
    prepare();
    child = fork();
    if (child == 0) {
        char byte;
        close(ends[1]);
        CHECK(read(sockets[1], &byte, 1) == 1); // until it is told
        _exit(0);
    }
    CHECK(pthread_create(&endless, NULL, waits_for_ever, NULL) == 0);
    int count = (int)(sizeof calls / sizeof *calls);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, blocks, (void *)&calls[i]) == 0);
        sem_wait(&begun);
        if (i % 2)
            sched_yield();
        CHECK(pthread_cancel(thread) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
        CHECK(cleaned == i + 1);
    }
    CHECK(write(sockets[0], "x", 1) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(pthread_cancel(endless) == 0 && pthread_join(endless, NULL) == 0);
    return 0;
}
