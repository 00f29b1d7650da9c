// SPDX-License-Identifier: Apache-2.0
// All the ways in which a process of several threads ends.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static sem_t never;
static int report; // a pipe: what atexit handlers and the like have said
static pthread_t first;

static void say(char letter) {
    CHECK(write(report, &letter, 1) == 1);
}

static void said_at_exit(void) {
    say('x');
}

static void said_at_quick_exit(void) {
    say('q');
}

static void *blocked(void *unused) {
    (void)unused;
    sem_wait(&never);
    return NULL;
}

static void *busy(void *unused) {
    (void)unused;
    for (volatile int i = 0;; i++)
        sched_yield();
    return NULL;
}

static void others(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, blocked, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, busy, NULL) == 0);
}

static void *calls_exit(void *unused) {
    (void)unused;
    exit(3);
}

static void *calls__exit(void *unused) {
    (void)unused;
    _exit(4);
}

static void *calls_quick_exit(void *unused) {
    (void)unused;
    quick_exit(5);
}

static void *calls_abort(void *unused) {
    (void)unused;
    abort();
}

static void from_thread(void *(*function)(void *)) {
    pthread_t thread;
    others();
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    pthread_join(thread, NULL);
    say('!');
    _exit(1);
}

static int exit_from_thread(void) {
    from_thread(calls_exit);
    return 0;
}

static int _exit_from_thread(void) {
    from_thread(calls__exit);
    return 0;
}

static int quick_exit_from_thread(void) {
    from_thread(calls_quick_exit);
    return 0;
}

static int abort_from_thread(void) {
    from_thread(calls_abort);
    return 0;
}

static int return_from_main(void) {
    others();
    return 6;
}

static void *joins_first(void *unused) {
    (void)unused;
    void *result;
    CHECK(pthread_join(first, &result) == 0);
    CHECK(strcmp(result, "first") == 0);
    say('j');
    return NULL;
}

// The others go on, and the last of them ends the process, with 0.
static int first_leaves(void) {
    pthread_t thread;
    first = pthread_self();
    CHECK(pthread_create(&thread, NULL, joins_first, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
    pthread_exit("first");
}

static void *exits_with_main_gone(void *unused) {
    (void)unused;
    CHECK(pthread_join(first, NULL) == 0);
    exit(7);
}

static int first_leaves_then_exit(void) {
    pthread_t thread;
    first = pthread_self();
    CHECK(pthread_create(&thread, NULL, exits_with_main_gone, NULL) == 0);
    pthread_exit(NULL);
}

static sem_t go;

static void *ends_soon(void *unused) {
    (void)unused;
    sem_wait(&go);
    say('t');
    sem_post(&never);
    return NULL;
}

static void lets_another_run(void) {
    sem_post(&go);
    sem_wait(&never);
    say('h');
}

// Threads still run while handlers do.
static int handler_waits_for_thread(void) {
    pthread_t thread;
    sem_init(&go, 0, 0);
    CHECK(atexit(lets_another_run) == 0);
    CHECK(pthread_create(&thread, NULL, ends_soon, NULL) == 0);
    return 8;
}

static void expect(int (*program)(void), int status, const char *text) {
    int ends[2], got;
    char said[16] = "";
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        report = ends[1];
        atexit(said_at_exit);
        at_quick_exit(said_at_quick_exit);
        exit(program());
    }
    close(ends[1]);
    for (ssize_t size = 0, length; (length = read(ends[0], said + size, 15 - size)) > 0;)
        size += length;
    close(ends[0]);
    CHECK(waitpid(child, &got, 0) == child);
    if (got != status || strcmp(said, text) != 0)
        fprintf(stderr, "status %x, said %s; wanted %x, %s\n", got, said, status, text);
    CHECK(got == status && strcmp(said, text) == 0);
}

int main(void) {
    sem_init(&never, 0, 0);
    expect(exit_from_thread, 3 << 8, "x");
    expect(_exit_from_thread, 4 << 8, "");
    expect(quick_exit_from_thread, 5 << 8, "q");
    expect(abort_from_thread, SIGABRT, "");
    expect(return_from_main, 6 << 8, "x");
    expect(first_leaves, 0, "jx");
    expect(first_leaves_then_exit, 7 << 8, "x");
    expect(handler_waits_for_thread, 8 << 8, "thx");
    return 0;
}
