// SPDX-License-Identifier: Apache-2.0
// Threads that add up their own parts of one large array, again and again.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, LENGTH = 1 << 22 };
static int numbers[LENGTH];
static long sums[THREADS][8]; // one cache line each
static int rounds;

static void *add(void *argument) {
    long me = (long)argument, part = LENGTH / THREADS;
    for (int round = 0; round < rounds; round++)
        for (long i = me * part; i < (me + 1) * part; i++) {
            numbers[i] += (int)i;
            sums[me][0] += numbers[i];
        }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    long total = 0;
    rounds = count > 1 ? atoi(arguments[1]) : 1;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += sums[i][0];
    }
    printf("%ld\n", total);
    return 0;
}
