// SPDX-License-Identifier: Apache-2.0
// Freed when everybody who uses it has been waited for; the allocator gives it out again.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdlib.h>

static void *use(void *unused) {
    int *block = malloc(64);
    block[0] = 1;
    assert(block[0] == 1);
    free(block);
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    TOGETHER(use, use);
    return 0;
}
