// SPDX-License-Identifier: Apache-2.0
// Threads that add up their own parts of one large array, again and again.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, LENGTH = 1 << 22 };
static unsigned numbers[LENGTH];
static unsigned sums[THREADS][16]; // one cache line each
static long rounds, part;

static void *add(void *argument) {
    long me = (long)argument, first = me * part, end = first + part;
    for (long round = 0; round < rounds; round++)
        for (long i = first; i < end; i++) {
            numbers[i] += (unsigned)i;
            sums[me][0] += numbers[i];
        }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    unsigned total = 0;
    rounds = count > 1 ? atol(arguments[1]) : 1;
    part = (count > 2 ? atol(arguments[2]) : LENGTH) / THREADS;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i][0];
    }
    printf("%u\n", total);
    return 0;
}
