// SPDX-License-Identifier: Apache-2.0
// One thread takes a mutex, another gives it back; a semaphore sees to the order.
// EXPECT: lock-misuse lock A
#include "together.h"
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t taken;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    sem_post(&taken);
    return unused;
}

static void *give_back(void *unused) {
    sem_wait(&taken);
    pthread_mutex_unlock(&lock); // A
    return unused;
}

int main(void) {
    sem_init(&taken, 0, 0);
    TOGETHER(take, give_back);
    sem_destroy(&taken);
    return 0;
}
