// SPDX-License-Identifier: Apache-2.0
// The first thread waits for a child, another one for a lock; the child ends. Which of the two
// handles that?
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int handler; // thread

static void handle(int number) {
    (void)number;
    handler = gettid() == getpid() ? 1 : 2;
}

static void *wait_for_lock(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_mutex_lock(&lock);
    if (signal(SIGCHLD, handle) == SIG_ERR || pthread_create(&other, NULL, wait_for_lock, NULL))
        return 1;
    if (fork() == 0)
        _exit(0);
    wait(NULL);
    printf("%d\n", handler);
    return 0;
}
