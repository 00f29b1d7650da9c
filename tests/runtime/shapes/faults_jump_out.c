// SPDX-License-Identifier: Apache-2.0
// A handler of SIGSEGV jumps out, again and again, in several threads and out of nested calls.
#include "team.h"

#include <setjmp.h>
#include <signal.h>

static _Thread_local sigjmp_buf out;
static _Thread_local volatile int faults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void on_fault(int number) {
    CHECK(number == SIGSEGV);
    faults++;
    siglongjmp(out, faults);
}

__attribute__((noinline)) static int deref(volatile int *where, int depth) {
    return depth ? deref(where, depth - 1) + 1 : *where;
}

static void *provokes(void *number) {
    int good = 5;
    for (int i = 0; i < 10; i++) {
        if (sigsetjmp(out, 1) == 0)
            CHECK(deref((volatile int *)(number_of(number) + 8), i % 4) == -1);
        CHECK(faults == i + 1);
        CHECK(deref(&good, 3) == 8);
        pthread_mutex_lock(&lock);
        total++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_fault};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    run_team(3, provokes);
    CHECK(total == 30);
    return 0;
}
