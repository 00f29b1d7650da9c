// SPDX-License-Identifier: Apache-2.0
// run_team(count, function): so many threads at once, each given its number; all are joined.
#ifndef TEAM_H
#define TEAM_H

#include "../programs/check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static inline long number_of(void *argument) {
    return (long)(intptr_t)argument;
}

static inline void run_team(long count, void *(*function)(void *)) {
    pthread_t *threads = (pthread_t *)calloc((size_t)count, sizeof *threads);
    for (long i = 0; i < count; i++)
        CHECK(pthread_create(&threads[i], NULL, function, (void *)(intptr_t)i) == 0);
    for (long i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    free(threads);
}

#endif
