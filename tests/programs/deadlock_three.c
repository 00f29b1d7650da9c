// SPDX-License-Identifier: Apache-2.0
// Three at a round table, each takes the fork on the left first.
// EXPECT: deadlock forks A B
#include "together.h"

static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void eat(int seat) {
    pthread_mutex_lock(&forks[seat]);           // A
    pthread_mutex_lock(&forks[(seat + 1) % 3]); // B
    pthread_mutex_unlock(&forks[(seat + 1) % 3]);
    pthread_mutex_unlock(&forks[seat]);
}

static void *ann(void *unused) {
    eat(0);
    return unused;
}

static void *bob(void *unused) {
    eat(1);
    return unused;
}

static void *cat(void *unused) {
    eat(2);
    return unused;
}

int main(void) {
    TOGETHER(ann, bob, cat);
    return 0;
}
