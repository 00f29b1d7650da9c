// SPDX-License-Identifier: Apache-2.0
// A barrier for two that three threads come to: one of them stays there.
// EXPECT: deadlock barrier A
#include "together.h"

static pthread_barrier_t barrier;

static void *come(void *unused) {
    pthread_barrier_wait(&barrier); // A
    return unused;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    TOGETHER(come, come, come);
    return 0;
}
