// SPDX-License-Identifier: Apache-2.0
// A handler sets an atomic flag; the thread that was interrupted looks at it.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int caught;
static pthread_t target;
static atomic_int known;

static void handle(int number) {
    atomic_store(&caught, number);
}

static void *receive(void *unused) {
    target = pthread_self();
    atomic_store(&known, 1);
    while (!atomic_load(&caught))
        sched_yield();
    assert(atomic_load(&caught) == SIGUSR1);
    return unused;
}

static void *send(void *unused) {
    while (!atomic_load(&known))
        sched_yield();
    pthread_kill(target, SIGUSR1);
    return unused;
}

int main(void) {
    signal(SIGUSR1, handle);
    TOGETHER(receive, send);
    return 0;
}
