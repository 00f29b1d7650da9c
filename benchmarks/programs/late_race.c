// SPDX-License-Identifier: Apache-2.0
// Threads that meet in the middle of their work, after memory was filled: THREADS MEBIBYTES STEPS.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 64, PART = 4096 };

static unsigned (*numbers)[PART];
static long steps;
static volatile int last; // who was there: nobody looks at it

static void count(unsigned *own) {
    for (long i = 0; i < steps / 2; i++)
        own[i % PART] += 1;
}

static void *work(void *argument) {
    long number = (long)argument;
    count(numbers[number]);
    last = (int)number;
    count(numbers[number]);
    return NULL;
}

int main(int words, char **arguments) {
    pthread_t made[THREADS_MAX];
    unsigned long total = 0;
    long threads = words == 4 ? atol(arguments[1]) : 0;
    if (threads < 1 || threads > THREADS_MAX)
        return 2;
    size_t bytes = strtoul(arguments[2], NULL, 10) << 20;
    steps = atol(arguments[3]) / threads;
    char *filled = malloc(bytes);
    memset(filled, 1, bytes);
    numbers = calloc((size_t)threads, sizeof *numbers);
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)i);
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    for (long i = 0; i < threads; i++)
        for (int k = 0; k < PART; k++)
            total += numbers[i][k];
    printf("%lu\n", total + (unsigned char)filled[bytes / 2] - 1);
    return 0;
}
