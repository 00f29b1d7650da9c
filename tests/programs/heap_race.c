// SPDX-License-Identifier: Apache-2.0
// Two threads write to one block of the heap.
// EXPECT: data-race heap:H A A
#include "together.h"
#include <stdlib.h>

static int *block;

static void *add(void *unused) {
    block[2]++; // A
    return unused;
}

int main(void) {
    block = malloc(16); // H
    TOGETHER(add, add);
    free(block);
    return 0;
}
