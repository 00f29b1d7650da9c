// SPDX-License-Identifier: Apache-2.0
// A token goes round a hundred threads, by semaphores, then by pipes: one of them runs at a time.
#include "team.h"

#include <semaphore.h>

#define THREADS 100
#define ROUNDS 3
static sem_t turns[THREADS];
static int pipes[THREADS][2];
static long held;

static void *passes(void *number) {
    long me = number_of(number), next = (me + 1) % THREADS;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(sem_wait(&turns[me]) == 0);
        CHECK(held++ == i * THREADS + me);
        CHECK(sem_post(&turns[next]) == 0);
    }
    return NULL;
}

static void *writes(void *number) {
    long me = number_of(number), next = (me + 1) % THREADS, token;
    CHECK(read(pipes[me][0], &token, sizeof token) == sizeof token);
    token++;
    CHECK(write(pipes[next][1], &token, sizeof token) == sizeof token);
    return NULL;
}

int main(void) {
    long token = 0;
    for (int i = 0; i < THREADS; i++)
        CHECK(sem_init(&turns[i], 0, i == 0) == 0 && pipe(pipes[i]) == 0);
    run_team(THREADS, passes);
    CHECK(held == THREADS * ROUNDS);
    CHECK(write(pipes[0][1], &token, sizeof token) == sizeof token);
    run_team(THREADS, writes);
    CHECK(read(pipes[0][0], &token, sizeof token) == sizeof token && token == THREADS);
    return 0;
}
