// SPDX-License-Identifier: Apache-2.0
// The careless access happens only when its thread comes second of three.
// EXPECT: data-race shared A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turn, shared;

static void *ordinary(void *unused) {
    pthread_mutex_lock(&lock);
    turn++;
    shared++; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *special(void *unused) {
    pthread_mutex_lock(&lock);
    int mine = ++turn;
    pthread_mutex_unlock(&lock);
    if (mine == 2)
        shared--; // B
    return unused;
}

int main(void) {
    TOGETHER(ordinary, special, ordinary);
    return 0;
}
