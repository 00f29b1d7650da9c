// SPDX-License-Identifier: Apache-2.0
// A handler jumps out of a wait: nothing of the wait is left behind.
#include "check.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

static sigjmp_buf away;
static uint32_t word;
static sem_t never;
static pid_t child;
static volatile int handled;

static void jump(int number) {
    (void)number;
    siglongjmp(away, 1);
}

static void handle(int number) {
    handled = number;
}

static void in_futex(void) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void in_timed_futex(void) {
    struct timespec hour = {3600, 0};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &hour, NULL, 0);
}

static void in_semaphore(void) {
    sem_wait(&never);
}

static void in_sigwait(void) {
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwaitinfo(&set, &info);
}

static void in_waitpid(void) {
    waitpid(child, NULL, 0);
}

static __attribute__((noinline)) void leave(void (*wait)(void)) {
    struct itimerval soon = {{0, 0}, {0, 2000}};
    if (sigsetjmp(away, 1) == 0) {
        CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
        wait();
        CHECK(!"left by a jump");
    }
}

// Where the one who waits stood are other variables now.
static __attribute__((noinline)) void wake(void) {
    unsigned char other[4096], same[4096];
    memset(other, 0x41, sizeof other);
    memset(same, 0x41, sizeof same);
    __asm__ volatile("" : : "r"(other) : "memory");
    CHECK(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
    CHECK(memcmp(other, same, sizeof other) == 0);
}

// One on a stack of its own.
static void on_other_stack(void) {
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = jump, .sa_flags = SA_ONSTACK};
    CHECK(sigaltstack(&other, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    leave(in_futex);
    wake();
    leave(in_semaphore);
}

static void sigwait_left(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(signal(SIGUSR1, handle) != SIG_ERR && sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    leave(in_sigwait);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && raise(SIGUSR1) == 0 && handled == SIGUSR1);
}

static void waitpid_left(void) {
    int gate[2], status;
    char byte;
    CHECK(pipe(gate) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 2 : 3);
    }
    leave(in_waitpid);
    CHECK(close(gate[1]) == 0);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 2);
}

int main(void) {
    CHECK(sem_init(&never, 0, 0) == 0 && signal(SIGALRM, jump) != SIG_ERR);
    for (int i = 0; i < 2; i++) {
        leave(in_futex);
        wake();
        leave(in_timed_futex);
        wake();
        leave(in_semaphore);
    }
    sigwait_left();
    waitpid_left();
    on_other_stack();
    CHECK(sem_post(&never) == 0 && sem_wait(&never) == 0);
    return 0;
}
