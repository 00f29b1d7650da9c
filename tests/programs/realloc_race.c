// SPDX-License-Identifier: Apache-2.0
// One thread makes the block larger, so it moves, while another one reads it.
// EXPECT: data-race numbers A B
// EXPECT: memory-error - A B
// MAY: data-race - A B, because the block itself is read while it is moved
#include "together.h"
#include <stdlib.h>

static int *numbers;

static void *look(void *unused) {
    return numbers[1] ? unused : NULL; // A
}

static void *grow(void *unused) {
    numbers = realloc(numbers, 1 << 20); // B
    return unused;
}

int main(void) {
    numbers = calloc(4, sizeof *numbers);
    TOGETHER(look, grow);
    free(numbers);
    return 0;
}
