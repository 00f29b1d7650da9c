// SPDX-License-Identifier: Apache-2.0
// Faults are handled at once by the thread that made them, on its own alternate stack if it has
// one.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

static char *wall;
static _Thread_local sigjmp_buf away;
static _Thread_local char *stack_of_handler;
static _Thread_local volatile int caught;
#define SIZE 65536

static void on_fault(int number, siginfo_t *info, void *context) {
    char here;
    (void)number, (void)context;
    CHECK(info->si_addr == wall || caught < 0);
    caught++;
    if (stack_of_handler)
        CHECK(&here >= stack_of_handler && &here < stack_of_handler + SIZE);
    siglongjmp(away, 1);
}

static void repair(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    caught++;
    CHECK(mprotect(wall, 4096, PROT_READ | PROT_WRITE) == 0); // and the instruction goes on
}

static void set(int number, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void fault_and_come_back(int times) {
    for (int i = 0; i < times; i++)
        if (sigsetjmp(away, 1) == 0) {
            *(volatile char *)wall = 1;
            CHECK(!"faults");
        }
    CHECK(caught == times);
    caught = 0;
}

static int deeper(volatile char *above) {
    volatile char room[4096];
    room[0] = *above;
    return room[0] ? 0 : deeper(room) + room[0];
}

static void *faults(void *unused) {
    (void)unused;
    fault_and_come_back(5);
    stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE}, old;
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_DISABLE);
    CHECK(sigaltstack(&stack, NULL) == 0);
    stack_of_handler = stack.ss_sp;
    fault_and_come_back(5);
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_sp == stack.ss_sp && old.ss_flags == 0);
    if (sigsetjmp(away, 1) == 0) { // its own stack is full
        char zero = 0;
        caught = -1;
        deeper(&zero);
    }
    CHECK(caught == 0);
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0);
    free(stack_of_handler);
    return NULL;
}

static void small_stack(int number, siginfo_t *info, void *context) {
    char here;
    (void)info, (void)context, (void)number;
    CHECK(&here >= stack_of_handler && &here < stack_of_handler + SIZE);
    stack_t old;
    CHECK(sigaltstack(NULL, &old) == 0 && old.ss_flags == SS_ONSTACK);
    CHECK(sigaltstack(&old, NULL) == -1 && errno == EPERM);
    caught++;
}

static void sent_to_other_stack(void) {
    stack_t stack = {.ss_sp = malloc(SIZE), .ss_size = SIZE},
            tiny = {.ss_sp = &stack, .ss_size = 9};
    CHECK(sigaltstack(&tiny, NULL) == -1 && errno == ENOMEM);
    CHECK(sigaltstack(&stack, NULL) == 0);
    stack_of_handler = stack.ss_sp;
    set(SIGUSR1, small_stack, SA_ONSTACK);
    caught = 0;
    raise(SIGUSR1);
    CHECK(caught == 1);
    stack.ss_flags = SS_DISABLE;
    CHECK(sigaltstack(&stack, NULL) == 0);
    free(stack_of_handler);
    stack_of_handler = NULL;
}

static int status_of(void (*function)(void)) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        function();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void die_by_fault(void) {
    signal(SIGSEGV, SIG_DFL);
    *(volatile char *)wall = 1;
}

__attribute__((noinline)) static long read_word(void) {
    return *(volatile long *)wall;
}

// Nobody else has read it before.
static void repair_read(int number, siginfo_t *info, void *context) {
    (void)number;
    uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    CHECK(info->si_addr == wall && at - (uintptr_t)read_word < 256);
    caught++;
    CHECK(mprotect(wall, 4096, PROT_READ | PROT_WRITE) == 0);
}

static void begin_segment(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CHECK(pthread_mutex_lock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
}

static void die_by_read(void) {
    signal(SIGSEGV, SIG_DFL);
    begin_segment();
    read_word();
}

static void die_by_term(void) {
    raise(SIGTERM);
}

static void die_by_abort(void) {
    signal(SIGABRT, SIG_IGN);
    abort();
}

static void exit_in_handler(int number) {
    _exit(number);
}

static void handle_abort(void) {
    signal(SIGABRT, exit_in_handler);
    abort();
}

static void divide(void) {
    signal(SIGFPE, exit_in_handler);
    volatile int zero = 0, seven = 7;
    _exit(seven / zero);
}

int main(void) {
    pthread_t threads[3];
    wall = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(wall != MAP_FAILED);
    set(SIGSEGV, on_fault, SA_ONSTACK);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, faults, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    sent_to_other_stack();
    CHECK(WTERMSIG(status_of(die_by_fault)) == SIGSEGV);
    CHECK(WTERMSIG(status_of(die_by_term)) == SIGTERM);
    CHECK(WTERMSIG(status_of(die_by_abort)) == SIGABRT);
    CHECK(WEXITSTATUS(status_of(handle_abort)) == SIGABRT);
    CHECK(WEXITSTATUS(status_of(divide)) == SIGFPE);
    set(SIGSEGV, repair, 0);
    caught = 0;
    *(volatile char *)wall = 1;
    CHECK(caught == 1 && *wall == 1);
    *(long *)wall = (long)&wall;
    CHECK(mprotect(wall, 4096, PROT_NONE) == 0);
    CHECK(WTERMSIG(status_of(die_by_read)) == SIGSEGV);
    set(SIGSEGV, repair_read, 0);
    caught = 0;
    begin_segment();
    CHECK(read_word() == (long)&wall && caught == 1);
    return 0;
}
