// SPDX-License-Identifier: Apache-2.0
// Readers count themselves: the first of them keeps writers out, the last lets them in.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t room;
static int readers, left, right;

static void count_readers(int change) {
    pthread_mutex_lock(&lock);
    if (change > 0 && readers == 0)
        sem_wait(&room);
    readers += change;
    if (change < 0 && readers == 0)
        sem_post(&room);
    pthread_mutex_unlock(&lock);
}

static void *look(void *unused) {
    count_readers(1);
    assert(left == right);
    count_readers(-1);
    return unused;
}

static void *change(void *unused) {
    sem_wait(&room);
    left++;
    right++;
    sem_post(&room);
    return unused;
}

int main(void) {
    sem_init(&room, 0, 1);
    TOGETHER(look, change, look);
    return 0;
}
