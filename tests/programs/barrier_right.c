// SPDX-License-Identifier: Apache-2.0
// Everybody writes their part before the barrier and reads the others' behind it.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_barrier_t barrier;
static int part[2];

static void phase(int me) {
    part[me] = me + 1;
    pthread_barrier_wait(&barrier);
    assert(part[1 - me] == 2 - me);
}

static void *zero(void *unused) {
    phase(0);
    return unused;
}

static void *one(void *unused) {
    phase(1);
    return unused;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    TOGETHER(zero, one);
    pthread_barrier_destroy(&barrier);
    return 0;
}
