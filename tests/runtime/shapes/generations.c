// SPDX-License-Identifier: Apache-2.0
// Each thread makes the next one and leaves, detached: five hundred generations, two at a time.
#include "team.h"

#include <semaphore.h>

#define LAST 500
static sem_t over;
static long born;

static void *generation(void *number) {
    pthread_t next;
    long mine = number_of(number);
    CHECK(mine == born);
    born++;
    if (mine == LAST) {
        sem_post(&over);
        return NULL;
    }
    CHECK(pthread_create(&next, NULL, generation, (void *)(mine + 1)) == 0);
    CHECK(pthread_detach(next) == 0);
    return NULL;
}

int main(void) {
    pthread_t first;
    sem_init(&over, 0, 0);
    CHECK(pthread_create(&first, NULL, generation, NULL) == 0);
    CHECK(pthread_detach(first) == 0);
    CHECK(sem_wait(&over) == 0);
    CHECK(born == LAST + 1);
    return 0;
}
