// SPDX-License-Identifier: Apache-2.0
// bbuf: the places of a shared buffer are taken under a lock, but read and counted without it.
// EXPECT: data-race slots A B
// EXPECT: data-race filled C D
#include "together.h"
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[2], filled;

static void put(int item) {
    pthread_mutex_lock(&lock);
    slots[filled] = item; // A
    filled++;             // C
    pthread_mutex_unlock(&lock);
}

static void *produce(void *unused) {
    put(1);
    put(2);
    return unused;
}

static void *consume(void *unused) {
    int sum = 0;
    for (int i = 0; i < filled; i++) // D
        sum += slots[i];             // B
    printf("%d\n", sum);
    return unused;
}

int main(void) {
    TOGETHER(produce, consume);
    return 0;
}
