// SPDX-License-Identifier: Apache-2.0
// Each thread has an alternate stack; a full stack is a fault that its handler survives on it.
#include "team.h"

#include <setjmp.h>
#include <signal.h>

#define SIZE (64 << 10)
static _Thread_local char *mine;
static _Thread_local sigjmp_buf out;
static _Thread_local volatile int depth;
static volatile int last = -1; // never reached

static void on_fault(int number) {
    char here;
    CHECK(number == SIGSEGV);
    CHECK(&here >= mine && &here < mine + SIZE);
    siglongjmp(out, 1);
}

__attribute__((noinline)) static int endless(int n) {
    volatile char frame[512];
    frame[0] = (char)n;
    depth = n;
    return n == last ? 0 : endless(n + 1) + frame[0];
}

static void *overflows(void *number) {
    (void)number;
    mine = malloc(SIZE);
    stack_t stack = {.ss_sp = mine, .ss_size = SIZE}, old;
    CHECK(sigaltstack(&stack, NULL) == 0);
    for (int i = 0; i < 2; i++) {
        depth = 0;
        if (sigsetjmp(out, 1) == 0)
            endless(0);
        CHECK(depth > 50);
        CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == mine && old.ss_flags == 0);
        sched_yield();
    }
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0);
    free(mine);
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    pthread_attr_t attributes;
    pthread_t threads[3];
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], &attributes, overflows, (void *)i) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
