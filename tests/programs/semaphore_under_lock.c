// SPDX-License-Identifier: Apache-2.0
// The consumer waits for the semaphore with the lock in hand that the producer needs first.
// EXPECT: deadlock lock,items A B
#include "together.h"
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t items;
static int queue;

static void *produce(void *unused) {
    pthread_mutex_lock(&lock); // A
    queue++;
    pthread_mutex_unlock(&lock);
    sem_post(&items);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    sem_wait(&items); // B
    queue--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    sem_init(&items, 0, 0);
    TOGETHER(produce, consume);
    return 0;
}
