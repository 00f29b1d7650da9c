// SPDX-License-Identifier: Apache-2.0
// Two producers and two consumers around a bounded queue with a mutex and two conditions.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 2, ROOM = 64 };
static int queue[ROOM], head, used, items;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER, not_full = PTHREAD_COND_INITIALIZER;

static void *produce(void *argument) {
    for (int i = 0; i < items; i++) {
        pthread_mutex_lock(&lock);
        while (used == ROOM)
            pthread_cond_wait(&not_full, &lock);
        queue[(head + used++) % ROOM] = i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&lock);
    }
    return argument;
}

static void *consume(void *argument) {
    long sum = 0;
    for (int i = 0; i < items; i++) {
        pthread_mutex_lock(&lock);
        while (!used)
            pthread_cond_wait(&not_empty, &lock);
        sum += queue[head];
        head = (head + 1) % ROOM;
        used--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&lock);
    }
    *(long *)argument = sum;
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t producers[SIDE], consumers[SIDE];
    long sums[SIDE], total = 0;
    items = count > 1 ? atoi(arguments[1]) : 100000;
    for (int i = 0; i < SIDE; i++) {
        pthread_create(&producers[i], NULL, produce, NULL);
        pthread_create(&consumers[i], NULL, consume, &sums[i]);
    }
    for (int i = 0; i < SIDE; i++) {
        pthread_join(producers[i], NULL);
        pthread_join(consumers[i], NULL);
        total += sums[i];
    }
    printf("%ld\n", total);
    return 0;
}
