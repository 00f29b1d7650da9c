// SPDX-License-Identifier: Apache-2.0
// Reads one variable again and again without an order, and then another one.
// usage: tired_place ROUNDS
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int often, once;
static atomic_bool written;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

static void *write_both(void *nothing) {
    often = once = 1;
    atomic_store_explicit(&written, true, memory_order_relaxed); // orders nothing
    return nothing;
}

int main(int count, char **arguments) {
    pthread_t writer;
    int rounds = count > 1 ? atoi(arguments[1]) : 1, sum = 0;
    pthread_create(&writer, NULL, write_both, NULL);
    while (!atomic_load_explicit(&written, memory_order_relaxed))
        continue;
    for (int i = 0; i < rounds; i++) {
        sum += often;
        pthread_mutex_lock(&own);
        pthread_mutex_unlock(&own);
    }
    sum += once;
    printf("%d\n", sum);
    pthread_join(writer, NULL);
    return 0;
}
