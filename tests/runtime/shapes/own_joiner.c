// SPDX-License-Identifier: Apache-2.0
// A thread makes the one that joins it, and is joined with the result that it leaves.
#include "team.h"

#include <semaphore.h>

static sem_t joined;

static void *joins(void *other) {
    void *result;
    CHECK(pthread_join(*(pthread_t *)other, &result) == 0);
    CHECK(result == other);
    sem_post(&joined);
    return NULL;
}

static void *makes_its_joiner(void *self) {
    pthread_t joiner;
    *(pthread_t *)self = pthread_self();
    CHECK(pthread_create(&joiner, NULL, joins, self) == 0);
    CHECK(pthread_detach(joiner) == 0);
    return self;
}

int main(void) {
    sem_init(&joined, 0, 0);
    for (int i = 0; i < 20; i++) {
        static pthread_t self, made;
        CHECK(pthread_create(&made, NULL, makes_its_joiner, &self) == 0);
        sem_wait(&joined);
    }
    return 0;
}
