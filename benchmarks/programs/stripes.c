// SPDX-License-Identifier: Apache-2.0
// Threads that work on stripes of one array, each under its lock: THREADS MEBIBYTES VISITS.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS_MAX = 64, LOCKS = 256, STRIPE = 1024 }; // numbers in a stripe: a page of them

static unsigned *numbers;
static unsigned long stripes;
static pthread_mutex_t locks[LOCKS];
static long visits, threads;

static void visit(unsigned long stripe) {
    pthread_mutex_lock(&locks[stripe % LOCKS]);
    for (unsigned long i = stripe * STRIPE; i < (stripe + 1) * STRIPE; i += 4)
        numbers[i] += numbers[i + 1] + 1;
    pthread_mutex_unlock(&locks[stripe % LOCKS]);
}

static void *work(void *argument) {
    unsigned long state = (unsigned long)argument;
    for (long i = 0; i < visits / threads; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        visit((state >> 33) % stripes);
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t made[THREADS_MAX];
    unsigned long total = 0;
    if (count != 4 || (threads = atol(arguments[1])) > THREADS_MAX)
        return 2;
    stripes = strtoul(arguments[2], NULL, 10) * (1 << 20) / (STRIPE * sizeof *numbers);
    visits = atol(arguments[3]);
    numbers = calloc(stripes * STRIPE, sizeof *numbers);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)i);
    for (long i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    for (unsigned long stripe = 0; stripe < stripes; stripe++)
        total += numbers[stripe * STRIPE];
    printf("%lu\n", total);
    return 0;
}
