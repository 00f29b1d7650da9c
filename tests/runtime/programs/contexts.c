// SPDX-License-Identifier: Apache-2.0
// Coroutines of several threads: each keeps its place, its arguments, its thread and its mask.
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define COROUTINES 3
#define ROUNDS 20
#define SIZE 65536

struct group {
    ucontext_t home, each[COROUTINES];
    char *stacks[COROUTINES];
    int steps[COROUTINES], ended;
    pthread_t thread;
};

static long __attribute__((noinline)) deeper(struct group *group, int who, int depth) {
    if (depth > 0)
        return deeper(group, who, depth - 1) + 1;
    CHECK(swapcontext(&group->each[who], &group->home) == 0);
    return 0;
}

static void body(unsigned high, unsigned low, int who, int four, int five, int six, int seven) {
    struct group *group = (struct group *)(((uintptr_t)high << 32) | low);
    CHECK(four == 4 && five == 5 && six == 6 && seven == 7);
    for (int i = 0; i < ROUNDS; i++) {
        group->steps[who]++;
        CHECK(deeper(group, who, who * 5 + i) == who * 5 + i);
        CHECK(pthread_equal(group->thread, pthread_self()));
    }
    group->ended++;
}

static void *runs(void *unused) {
    (void)unused;
    struct group *group = calloc(1, sizeof *group);
    group->thread = pthread_self();
    for (int i = 0; i < COROUTINES; i++) {
        CHECK(getcontext(&group->each[i]) == 0);
        group->each[i].uc_stack.ss_sp = group->stacks[i] = malloc(SIZE);
        group->each[i].uc_stack.ss_size = SIZE;
        group->each[i].uc_link = &group->home;
        makecontext(&group->each[i], (void (*)(void))body, 7, (unsigned)((uintptr_t)group >> 32),
                    (unsigned)(uintptr_t)group, i, 4, 5, 6, 7);
    }
    for (int round = 0; round <= ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++) {
            CHECK(swapcontext(&group->home, &group->each[i]) == 0);
            CHECK(group->steps[i] == (round < ROUNDS ? round + 1 : ROUNDS));
        }
    CHECK(group->ended == COROUTINES);
    for (int i = 0; i < COROUTINES; i++)
        free(group->stacks[i]);
    free(group);
    return NULL;
}

static void again(void) {
    ucontext_t context;
    volatile int times = 0;
    CHECK(getcontext(&context) == 0);
    times = times + 1;
    if (times < 5)
        setcontext(&context);
    CHECK(times == 5);
}

static void masks(void) {
    ucontext_t context;
    sigset_t set, mask;
    volatile int times = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(getcontext(&context) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 0);
    if (times++ == 0) {
        CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
        setcontext(&context); // gives the mask back
    }
}

static char stack[SIZE];
static int status = 9;

static void last(void) {
    status = 0;
}

static void leave(void) {
    _exit(status);
}

// The end of a context that nothing follows is the end of the process.
static void ends_with_its_context(void) {
    ucontext_t context;
    CHECK(atexit(leave) == 0);
    CHECK(getcontext(&context) == 0);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof stack;
    context.uc_link = NULL;
    makecontext(&context, last, 0);
    setcontext(&context);
    CHECK(!"gone");
}

int main(void) {
    pthread_t threads[3];
    again();
    masks();
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, runs, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    runs(NULL);
    ends_with_its_context();
    return 0;
}
