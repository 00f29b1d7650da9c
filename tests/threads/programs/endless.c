// SPDX-License-Identifier: Apache-2.0
// Never ends, each time in another way:
//
//   endless counting    two threads, one lock
//   endless alone       one thread that computes
//   endless deaf        as counting, and what could end it is ignored or blocked
//   endless writing     floods standard output
//   endless printing    the same with stdio, which is no decision
//   endless hidden      in code that no compiler of ours has seen
//   endless parted      the same, in a child with a session of its own whose parent has ended
//   endless waiting     for a signal that never comes
//   endless become      a program without our runtime, which sleeps
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long count;

static void *counting(void *unused) {
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
    }
}

static void alone(void) {
    for (;;)
        count++;
}

static void deafen(void) {
    sigset_t all;
    sigfillset(&all);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static void writing(void) {
    char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (;;)
        if (write(1, line, sizeof line) < 0)
            return;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "counting";
    pthread_t thread;
    if (strcmp(how, "deaf") == 0)
        deafen();
    if (strcmp(how, "parted") == 0 && fork() == 0) {
        setsid();
        if (fork())
            _exit(0);
        printf("%d\n", getpid());
    }
    if (strcmp(how, "become") == 0)
        return execl("/bin/sh", "sh", "-c", "echo begun; exec sleep 100000", (char *)NULL);
    puts("begun");
    fflush(stdout);
    if (strcmp(how, "alone") == 0)
        alone();
    if (strcmp(how, "writing") == 0)
        writing();
    while (strcmp(how, "printing") == 0)
        puts("another line");
    if (strcmp(how, "hidden") == 0)
        __asm__ volatile("1: jmp 1b");
    if (strcmp(how, "waiting") == 0 || strcmp(how, "parted") == 0)
        return pause();
    pthread_create(&thread, NULL, counting, NULL);
    counting(NULL);
    return 0;
}
