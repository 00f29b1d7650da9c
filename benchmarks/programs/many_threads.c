// SPDX-License-Identifier: Apache-2.0
// So many threads that are there at the same time and wait for each other: COUNT.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t all;

static void *wait_for_all(void *unused) {
    pthread_barrier_wait(&all);
    return unused;
}

int main(int arguments_count, char **arguments) {
    unsigned count = arguments_count > 1 ? (unsigned)atoi(arguments[1]) : 1;
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_barrier_init(&all, NULL, count);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, wait_for_all, NULL))
            return 1;
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", count);
    free(threads);
    return 0;
}
