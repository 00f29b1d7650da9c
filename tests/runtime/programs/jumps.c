// SPDX-License-Identifier: Apache-2.0
// setjmp and its kin, in threads that take turns: registers, masks, and what is on the stack.
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

static void __attribute__((noinline)) far_away(jmp_buf *buffer, int depth, int value) {
    if (depth > 0)
        far_away(buffer, depth - 1, value);
    if (depth == 0) {
        sched_yield();
        longjmp(*buffer, value);
    }
}

// Out of many calls many times: what counts calls has to come back too, or overflows.
static void *jumps(void *unused) {
    (void)unused;
    jmp_buf buffer;
    volatile long times = 0;
    int value = setjmp(buffer);
    if (value == 0)
        CHECK(times == 0);
    if (times < 300) {
        times = times + 1;
        far_away(&buffer, 500, (int)times);
    }
    CHECK(value == 300);
    if ((value = setjmp(buffer)) == 0)
        longjmp(buffer, 0); // 0 becomes 1
    CHECK(value == 1);
    return NULL;
}

static int blocks(int number) {
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    return sigismember(&mask, number);
}

static void *masks(void *unused) {
    (void)unused;
    sigjmp_buf buffer;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (sigsetjmp(buffer, 1) == 0) {
        CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
        sched_yield();
        siglongjmp(buffer, 1);
    }
    CHECK(!blocks(SIGUSR1));
    if (sigsetjmp(buffer, 0) == 0) {
        CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
        siglongjmp(buffer, 1);
    }
    CHECK(blocks(SIGUSR1));
    jmp_buf plain;
    if (_setjmp(plain) == 0) {
        CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
        _longjmp(plain, 1);
    }
    CHECK(!blocks(SIGUSR1));
    return NULL;
}

static void __attribute__((noinline)) with_registers(long base) {
    jmp_buf buffer;
    long a = base + 1, b = base + 2, c = base + 3, d = base + 4, e = base + 5;
    double f = (double)base / 2;
    if (setjmp(buffer) == 0) {
        CHECK(a + b + c + d + e == 5 * base + 15);
        far_away(&buffer, 10, 1);
    }
    CHECK(a + b + c + d + e == 5 * base + 15 && f == (double)base / 2);
}

static void *registers(void *base) {
    for (int i = 0; i < 20; i++)
        with_registers((long)(intptr_t)base);
    return NULL;
}

int main(void) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL,
                             i < 2   ? jumps
                             : i < 4 ? masks
                                     : registers,
                             (void *)(intptr_t)(i * 1000)) == 0);
    for (int i = 0; i < 6; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
