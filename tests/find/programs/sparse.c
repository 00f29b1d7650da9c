// SPDX-License-Identifier: Apache-2.0
// Gigabytes that are mapped and allocated, of which a few pages are touched.
#include <pthread.h>
#include <stdlib.h>

#define GIB (1ul << 30)

static char *block;

static void *one(void *unused) {
    for (size_t i = 0; i < 48; i++)
        block[i * (GIB / 8)] = 1;
    return unused;
}

static void *other(void *unused) {
    block[5 * GIB]++;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    block = malloc(6 * GIB);
    if (!block)
        return 1;
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    free(block);
    return 0;
}
