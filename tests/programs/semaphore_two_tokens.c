// SPDX-License-Identifier: Apache-2.0
// A semaphore is used as a lock, but starts with two tokens.
// EXPECT: data-race counter A A
#include "together.h"
#include <semaphore.h>

static sem_t lock;
static int counter;

static void *add(void *unused) {
    sem_wait(&lock);
    counter++; // A
    sem_post(&lock);
    return unused;
}

int main(void) {
    sem_init(&lock, 0, 2);
    TOGETHER(add, add);
    return 0;
}
