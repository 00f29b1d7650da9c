// SPDX-License-Identifier: Apache-2.0
// A thread waits for a child process that ends only when another thread has gone on.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int ends[2]; // a child ends when it has read a byte from it
static volatile pid_t child;
static volatile int done;

static void start(void) {
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        char byte;
        CHECK(read(ends[0], &byte, 1) == 1);
        _exit(byte);
    }
}

static void *lets_it_end(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++)
        sched_yield();
    CHECK(write(ends[1], "\7", 1) == 1);
    return NULL;
}

static void by_wait(void) {
    int status;
    CHECK(wait(&status) == child && WEXITSTATUS(status) == 7);
}

static void by_waitpid(void) {
    int status;
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

static void by_wait4(void) {
    int status;
    struct rusage usage;
    CHECK(wait4(-1, &status, 0, &usage) == child && WEXITSTATUS(status) == 7);
}

static void by_waitid(void) {
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0);
    CHECK(info.si_pid == child && info.si_code == CLD_EXITED && info.si_status == 7);
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == child);
}

static void each_way(void (*const way)(void)) {
    pthread_t other;
    start();
    int status;
    siginfo_t info = {.si_pid = 5};
    CHECK(waitpid(child, &status, WNOHANG) == 0);
    CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0);
    CHECK(pthread_create(&other, NULL, lets_it_end, NULL) == 0);
    way();
    CHECK(waitpid(child, &status, 0) == -1 && errno == ECHILD);
    CHECK(wait(NULL) == -1 && errno == ECHILD);
    CHECK(waitid(P_ALL, 0, &info, WEXITED) == -1 && errno == ECHILD);
    CHECK(pthread_join(other, NULL) == 0);
}

static void note(int number) {
    (void)number;
}

static void *waits(void *unused) {
    (void)unused;
    CHECK(waitpid(child, NULL, 0) == -1 && errno == EINTR);
    done = 1;
    return NULL;
}

static void interrupted(void) {
    struct sigaction action;
    pthread_t thread;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    start();
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    while (!done) {
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        sched_yield();
    }
    CHECK(pthread_join(thread, NULL) == 0);
    lets_it_end(NULL);
    by_wait();
}

static void *cancelled(void *unused) {
    (void)unused;
    waitpid(child, NULL, 0);
    CHECK(!"cancelled");
    return NULL;
}

static void cancellation(void) {
    pthread_t thread;
    void *result;
    start();
    CHECK(pthread_create(&thread, NULL, cancelled, NULL) == 0);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    lets_it_end(NULL);
    by_wait();
}

static void *runs_command(void *unused) {
    (void)unused;
    char command[100];
    snprintf(command, sizeof command, "read line <&%d; exit 9", ends[0]);
    CHECK(WEXITSTATUS(system(command)) == 9);
    FILE *stream = popen(command, "r");
    CHECK(stream != NULL);
    CHECK(WEXITSTATUS(pclose(stream)) == 9);
    return NULL;
}

static void commands(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, runs_command, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        sched_yield();
        CHECK(write(ends[1], "\n", 1) == 1);
    }
    CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
    CHECK(pipe(ends) == 0);
    each_way(by_wait);
    each_way(by_waitpid);
    each_way(by_wait4);
    each_way(by_waitid);
    interrupted();
    cancellation();
    commands();
    return 0;
}
