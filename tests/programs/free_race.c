// SPDX-License-Identifier: Apache-2.0
// One thread frees what another one still uses, and nothing orders the two.
// EXPECT: memory-error - A B
// MAY: data-race - A B, because the same two are also a race when the use comes first
#include "together.h"
#include <stdlib.h>

static int *block;

static void *use(void *unused) {
    block[4] = 1; // A
    return unused;
}

static void *end(void *unused) {
    free(block); // B
    return unused;
}

int main(void) {
    block = malloc(64);
    TOGETHER(use, end);
    return 0;
}
