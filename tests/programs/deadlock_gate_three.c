// SPDX-License-Identifier: Apache-2.0
// Three locks in a ring; two of the three take theirs under a gate, which breaks the ring.
// EXPECT: nothing
#include "together.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t forks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void eat(int seat) {
    pthread_mutex_lock(&forks[seat]);
    pthread_mutex_lock(&forks[(seat + 1) % 3]);
    pthread_mutex_unlock(&forks[(seat + 1) % 3]);
    pthread_mutex_unlock(&forks[seat]);
}

static void *ann(void *unused) {
    pthread_mutex_lock(&gate);
    eat(0);
    pthread_mutex_unlock(&gate);
    return unused;
}

static void *bob(void *unused) {
    pthread_mutex_lock(&gate);
    eat(1);
    pthread_mutex_unlock(&gate);
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
