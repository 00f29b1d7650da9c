// SPDX-License-Identifier: Apache-2.0
// Whoever finds the pointer frees it; both may find it before one has cleared it.
// EXPECT: memory-error - B B
// EXPECT: data-race block A A
// MAY: data-race - B B, because the two frees are not ordered either
// MAY: failure SIGABRT, because the allocator notices
#include "together.h"
#include <stdlib.h>

static void *block;

static void *clean_up(void *unused) {
    if (block) {      // A
        free(block);  // A, B
        block = NULL; // A
    }
    return unused;
}

int main(void) {
    block = malloc(64);
    TOGETHER(clean_up, clean_up);
    return 0;
}
