// SPDX-License-Identifier: Apache-2.0
// Two rounds with one barrier: the second round writes while others still read the first.
// EXPECT: data-race part A B
#include "together.h"

static pthread_barrier_t barrier;
static int part[2];

static int look(int who) {
    return part[who]; // B
}

static void change(int who, int value) {
    part[who] = value; // A
}

static void rounds(int me) {
    for (int round = 0; round < 2; round++) {
        change(me, round);
        pthread_barrier_wait(&barrier);
        look(1 - me);
    }
}

static void *zero(void *unused) {
    rounds(0);
    return unused;
}

static void *one(void *unused) {
    rounds(1);
    return unused;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    TOGETHER(zero, one);
    pthread_barrier_destroy(&barrier);
    return 0;
}
