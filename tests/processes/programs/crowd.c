// SPDX-License-Identifier: Apache-2.0
// crowd COUNT: so many threads are there at once; each asks for a file when all of them are.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { STACK = 32 << 10 };

static pthread_barrier_t all;

static void *ask(void *nothing) {
    pthread_barrier_wait(&all);
    access("/", F_OK);
    return nothing;
}

int main(int count, char **words) {
    unsigned threads = count == 2 ? (unsigned)atoi(words[1]) : 0;
    pthread_t *each = calloc(threads, sizeof *each);
    pthread_attr_t small;
    pthread_attr_init(&small);
    if (!each || pthread_attr_setstacksize(&small, STACK) ||
        pthread_barrier_init(&all, NULL, threads + 1))
        return 64;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&each[i], &small, ask, NULL))
            return 1;
    pthread_barrier_wait(&all);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(each[i], NULL);
    return 0;
}
