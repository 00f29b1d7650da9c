// SPDX-License-Identifier: Apache-2.0
// Looks again for a while, and fails when nothing came: who is to come may be slow.
#include <pthread.h>
#include <stdlib.h>

enum { LOOKS = 300 };

static volatile int ready;

static void *set(void *unused) {
    ready = 1;
    return unused;
}

int main(void) {
    pthread_t setter;
    pthread_create(&setter, NULL, set, NULL);
    int looks = 0;
    while (!ready && looks < LOOKS)
        looks++;
    if (looks == LOOKS)
        abort();
    pthread_join(setter, NULL);
    return 0;
}
