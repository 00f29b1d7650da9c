// SPDX-License-Identifier: Apache-2.0
// Two threads, and something that does not come from them; the argument says what.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *add(void *unused) {
    atomic_fetch_add(&count, 1);
    return unused;
}

static void from_random(void) {
    unsigned number;
    if (getrandom(&number, sizeof number, 0) > 0 && number == 0)
        puts("once in four thousand million times");
}

// So short that it is over before the other thread is.
static void from_deadline(void) {
    struct timespec moment = {0, 1};
    pthread_mutex_lock(&lock);
    pthread_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &moment);
    pthread_mutex_unlock(&lock);
}

static void from_pid(void) {
    if (getpid() == 0)
        puts("never");
}

static void from_pipe(void) {
    int ends[2];
    char byte = 'x';
    if (pipe(ends) == 0 && write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1)
        atomic_fetch_add(&count, 1);
}

int main(int arguments, char **argument) {
    static const struct {
        const char *name;
        void (*from)(void);
    } programs[] = {{"random", from_random},
                    {"deadline", from_deadline},
                    {"pid", from_pid},
                    {"pipe", from_pipe}};
    pthread_t other;
    pthread_create(&other, NULL, add, NULL);
    for (size_t i = 0; arguments > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(argument[1], programs[i].name) == 0)
            programs[i].from();
    pthread_join(other, NULL);
    printf("%d\n", atomic_load(&count));
    return 0;
}
