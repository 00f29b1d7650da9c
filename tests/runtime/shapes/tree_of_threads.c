// SPDX-License-Identifier: Apache-2.0
// Threads that make threads that make threads, each joining its own: 3^5 leaves.
#include "team.h"

#define BRANCHES 3
#define DEPTH 5
static long leaves;

static void *grow(void *depth) {
    pthread_t children[BRANCHES];
    if (depth == NULL) {
        __atomic_fetch_add(&leaves, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    for (int i = 0; i < BRANCHES; i++)
        CHECK(pthread_create(&children[i], NULL, grow, (void *)(number_of(depth) - 1)) == 0);
    for (int i = 0; i < BRANCHES; i++)
        CHECK(pthread_join(children[i], NULL) == 0);
    return NULL;
}

int main(void) {
    grow((void *)DEPTH);
    CHECK(leaves == 243);
    return 0;
}
