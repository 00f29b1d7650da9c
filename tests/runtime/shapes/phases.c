// SPDX-License-Identifier: Apache-2.0
// Thirty threads in step over twenty phases; one barrier is taken away right behind its last wait.
#include "team.h"

#define THREADS 30
#define PHASES 20
static pthread_barrier_t barrier;
static int phase_of[THREADS], serial;

static void *marches(void *number) {
    long me = number_of(number);
    for (int phase = 1; phase <= PHASES; phase++) {
        phase_of[me] = phase;
        int told = pthread_barrier_wait(&barrier);
        CHECK(told == 0 || told == PTHREAD_BARRIER_SERIAL_THREAD);
        if (told)
            __atomic_fetch_add(&serial, 1, __ATOMIC_SEQ_CST);
        for (int i = 0; i < THREADS; i++)
            CHECK(phase_of[i] == phase);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static pthread_barrier_t *passing;

static void *takes_away(void *number) {
    if (pthread_barrier_wait(passing) == PTHREAD_BARRIER_SERIAL_THREAD) {
        CHECK(pthread_barrier_destroy(passing) == 0);
        free(passing);
    }
    return number;
}

int main(void) {
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    run_team(THREADS, marches);
    CHECK(serial == PHASES);
    for (int i = 0; i < 5; i++) {
        passing = malloc(sizeof *passing);
        CHECK(pthread_barrier_init(passing, NULL, 4) == 0);
        run_team(4, takes_away);
    }
    return 0;
}
