// SPDX-License-Identifier: Apache-2.0
// Two threads race in a block that is so large that malloc maps memory for it.
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *add(void *unused) {
    block[100]++;
    return unused;
}

int main(void) {
    block = malloc(1 << 20);
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    free(block);
    return 0;
}
