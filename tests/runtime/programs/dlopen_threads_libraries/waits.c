// SPDX-License-Identifier: Apache-2.0
// Its constructor makes a thread and waits for it by looking: with and without offering its turn.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int up;
static volatile int seen;

static void *begins(void *unused) {
    up++;
    return unused;
}

static pthread_t start(void) {
    pthread_t thread;
    return pthread_create(&thread, NULL, begins, NULL) ? pthread_self() : thread;
}

__attribute__((constructor)) static void begin(void) {
    pthread_t first = start();
    while (up == 0)
        sched_yield();
    pthread_t second = start();
    while (up == 1)
        ;
    seen = pthread_join(first, NULL) + pthread_join(second, NULL) + up;
}

int library_seen(void) {
    return seen;
}
