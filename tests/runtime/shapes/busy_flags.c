// SPDX-License-Identifier: Apache-2.0
// Threads that wait by looking: at atomic flags, at tickets, and in the algorithms that need no
// more than loads and stores.
#include "team.h"

static int flags[2], turn, inside, count;

// Peterson's algorithm.
static void *alternates(void *number) {
    int me = (int)number_of(number), other = !me;
    for (int i = 0; i < 20; i++) {
        __atomic_store_n(&flags[me], 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&turn, other, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&flags[other], __ATOMIC_SEQ_CST) &&
               __atomic_load_n(&turn, __ATOMIC_SEQ_CST) == other)
            ;
        CHECK(inside++ == 0);
        count++;
        inside--;
        __atomic_store_n(&flags[me], 0, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static int next_ticket, serving;

static void *draws_tickets(void *number) {
    for (int i = 0; i < 10; i++) {
        int mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine)
            sched_yield();
        CHECK(inside++ == 0);
        count++;
        inside--;
        __atomic_store_n(&serving, mine + 1, __ATOMIC_RELEASE);
    }
    return number;
}

static volatile int go; // no atomic at all: many programs do

static void *spins(void *number) {
    while (!go)
        ;
    return number;
}

int main(void) {
    pthread_t spinner;
    run_team(2, alternates);
    run_team(4, draws_tickets);
    CHECK(count == 80);
    CHECK(pthread_create(&spinner, NULL, spins, NULL) == 0);
    go = 1;
    CHECK(pthread_join(spinner, NULL) == 0);
    return 0;
}
