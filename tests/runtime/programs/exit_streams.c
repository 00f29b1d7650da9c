// SPDX-License-Identifier: Apache-2.0
// A program ends though a thread of it waits for input, or holds a stream; what was written comes.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static FILE *in, *out;
static sem_t ready;

static void *reads(void *unused) {
    char line[16];
    sem_post(&ready);
    return fgets(line, sizeof line, in) ? unused : NULL;
}

static void *holds(void *unused) {
    flockfile(out);
    sem_post(&ready);
    pause();
    return unused;
}

static void ends_with(void *(*other)(void *)) {
    int there[2], back[2], status;
    char text[16];
    CHECK(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        pthread_t thread;
        in = fdopen(there[0], "r");
        out = fdopen(back[1], "w");
        fputs("text\n", out);
        CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
        while (sem_wait(&ready) != 0)
            CHECK(errno == EINTR);
        exit(3);
    }
    close(back[1]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK(read(back[0], text, sizeof text) == 5 && memcmp(text, "text\n", 5) == 0);
    close(there[0]);
    close(there[1]);
    close(back[0]);
}

int main(void) {
    CHECK(sem_init(&ready, 0, 0) == 0);
    ends_with(reads);
    ends_with(holds);
    return 0;
}
