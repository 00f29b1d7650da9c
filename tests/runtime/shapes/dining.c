// SPDX-License-Identifier: Apache-2.0
// Five philosophers who put the first fork down when the second is taken, and so do not starve.
#include "team.h"

#define SEATS 5
#define MEALS 8
static pthread_mutex_t forks[SEATS];
static int eaten[SEATS], in_use[SEATS];

static void eat(long left, long right) {
    CHECK(in_use[left]++ == 0 && in_use[right]++ == 0);
    sched_yield();
    in_use[left]--;
    in_use[right]--;
}

static void *dines(void *number) {
    long left = number_of(number), right = (left + 1) % SEATS;
    while (eaten[left] < MEALS) {
        pthread_mutex_lock(&forks[left]);
        if (pthread_mutex_trylock(&forks[right]) == 0) {
            eat(left, right);
            eaten[left]++;
            pthread_mutex_unlock(&forks[right]);
        }
        pthread_mutex_unlock(&forks[left]);
        sched_yield();
    }
    return NULL;
}

int main(void) {
    for (int i = 0; i < SEATS; i++)
        CHECK(pthread_mutex_init(&forks[i], NULL) == 0);
    run_team(SEATS, dines);
    for (int i = 0; i < SEATS; i++)
        CHECK(eaten[i] == MEALS);
    return 0;
}
