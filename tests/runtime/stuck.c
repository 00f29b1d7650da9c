// SPDX-License-Identifier: Apache-2.0
// Threads that all wait: for what nobody can give, or for what only a signal from outside can.
#include "programs/check.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static int ends[2], gate[2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static atomic_int word;

static void change_mask(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(pthread_sigmask(how, &set, NULL) == 0);
}

// --- waits

static void *in_read(void *unused) {
    char byte;
    return read(ends[0], &byte, 1) == 1 ? unused : &byte;
}

static void *in_poll(void *unused) {
    struct pollfd one = {ends[0], POLLIN, 0};
    while (poll(&one, 1, -1) == -1 && errno == EINTR)
        ;
    return one.revents ? unused : &word;
}

static void *in_epoll(void *unused) {
    struct epoll_event event = {.events = EPOLLIN};
    int instance = epoll_create1(0);
    CHECK(epoll_ctl(instance, EPOLL_CTL_ADD, ends[0], &event) == 0);
    while (epoll_wait(instance, &event, 1, -1) == -1 && errno == EINTR)
        ;
    return unused;
}

static void *in_semaphore(void *unused) {
    while (sem_wait(&semaphore) == -1 && errno == EINTR)
        ;
    return unused;
}

static void *in_futex(void *unused) {
    while (word == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return unused;
}

static void *in_mutex(void *unused) {
    CHECK(pthread_mutex_lock(&mutex) == 0);
    return unused;
}

static void *in_condition(void *unused) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&own);
    for (;;)
        pthread_cond_wait(&condition, &own);
    return unused;
}

static sigjmp_buf away;

static void jump(int number) {
    (void)number;
    siglongjmp(away, 1);
}

// A handler could help in the first wait, which it leaves; nothing can in the second.
static void *in_mutex_after_jump(void *unused) {
    struct itimerval soon = {{0, 0}, {0, 1000}};
    CHECK(signal(SIGALRM, jump) != SIG_ERR);
    change_mask(SIG_UNBLOCK, SIGALRM);
    if (sigsetjmp(away, 1) == 0) {
        CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
        sem_wait(&semaphore);
    }
    return in_mutex(unused);
}

static void *in_sigwait(void *unused) {
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(sigwait(&set, &number) == 0 && number == SIGUSR1);
    return unused;
}

static const struct {
    const char *name;
    void *(*wait)(void *);
} waits[] = {{"read", in_read},           {"poll", in_poll},       {"epoll", in_epoll},
             {"sem", in_semaphore},       {"futex", in_futex},     {"mutex", in_mutex},
             {"condition", in_condition}, {"sigwait", in_sigwait}, {"jumped", in_mutex_after_jump}};

// --- what a handler may do for them

static void help(int number) {
    (void)number;
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    CHECK(write(ends[1], "x", 1) == 1);
    sem_post(&semaphore);
}

static void start_signaller(void) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return;
    CHECK(dup2(gate[0], 0) == 0 && close(gate[0]) == 0 && close(gate[1]) == 0);
    execl("/bin/sh", "sh", "-c", "read line && kill -USR1 $PPID", (char *)NULL);
    _exit(1);
}

// stuck WAIT [handled] [blocked] [signalled]
int main(int count, char **words) {
    pthread_t thread;
    bool signalled = false;
    CHECK(sem_init(&semaphore, 0, 0) == 0);
    change_mask(SIG_BLOCK, SIGALRM); // but in the thread that waits for it
    for (int i = 2; i < count; i++) {
        signalled |= !strcmp(words[i], "signalled");
        if (!strcmp(words[i], "handled"))
            CHECK(signal(SIGUSR1, help) != SIG_ERR);
        if (!strcmp(words[i], "blocked"))
            change_mask(SIG_BLOCK, SIGUSR1);
    }
    if (signalled) {
        CHECK(pipe(gate) == 0);
        start_signaller();
    }
    CHECK(pipe(ends) == 0); // after the fork: nobody else has it
    CHECK(pthread_mutex_lock(&mutex) == 0);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (!strcmp(words[1], waits[i].name))
            CHECK(pthread_create(&thread, NULL, waits[i].wait, NULL) == 0);
    if (signalled)
        CHECK(write(gate[1], "\n", 1) == 1);
    CHECK(pthread_join(thread, NULL) == 0);
    if (signalled)
        CHECK(close(gate[1]) == 0 && wait(NULL) > 0);
    printf("freed\n");
    return 0;
}
