// SPDX-License-Identifier: Apache-2.0
// pthread_once: one runs it, all others wait for its end.
#include "check.h"

#include <pthread.h>
#include <sched.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT;
static int runs, inner_runs, complete;

static void run_inner(void) {
    inner_runs++;
}

static void run(void) {
    runs++;
    CHECK(pthread_once(&inner, run_inner) == 0); // another one inside is no problem
    for (int i = 0; i < 20; i++)
        sched_yield();
    complete = 1;
}

static void *call(void *unused) {
    (void)unused;
    CHECK(pthread_once(&once, run) == 0);
    CHECK(complete == 1 && runs == 1 && inner_runs == 1);
    return NULL;
}

int main(void) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, call, NULL) == 0);
    for (int i = 0; i < 6; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    call(NULL);
    return 0;
}
