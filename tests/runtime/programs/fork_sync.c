// SPDX-License-Identifier: Apache-2.0
// What other threads had begun when a process forked: the child finds streams free and a
// pthread_once not run, and its own thread has the process's number.
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static pthread_barrier_t begun, end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *stream;
static int runs;

static void run(void) {
    runs++;
    if (runs == 1) { // the parent's other thread is in here while main forks
        pthread_barrier_wait(&begun);
        pthread_barrier_wait(&end);
    }
}

static void *hold_and_run(void *unused) {
    (void)unused;
    flockfile(stream);
    CHECK(pthread_once(&once, run) == 0);
    funlockfile(stream);
    return NULL;
}

static void *use(void *unused) {
    (void)unused;
    CHECK(fputs("child", stream) >= 0 && fflush(stream) == 0);
    return NULL;
}

static void child(void) {
    pthread_t thread;
    CHECK(gettid() == getpid());
    CHECK(fprintf(stream, "child") == 5);
    CHECK(pthread_once(&once, run) == 0 && runs == 2);
    CHECK(pthread_once(&once, run) == 0 && runs == 2);
    CHECK(pthread_create(&thread, NULL, use, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(fflush(NULL) == 0);
    _exit(0);
}

int main(void) {
    pthread_t thread;
    int status;
    CHECK((stream = tmpfile()) != NULL);
    CHECK(pthread_barrier_init(&begun, NULL, 2) == 0 && pthread_barrier_init(&end, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, hold_and_run, NULL) == 0);
    pthread_barrier_wait(&begun);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child();
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pthread_barrier_wait(&end);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(runs == 1 && pthread_once(&once, run) == 0 && runs == 1);
    CHECK(fclose(stream) == 0);
    return 0;
}
