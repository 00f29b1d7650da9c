// SPDX-License-Identifier: Apache-2.0
// Hits are counted without a lock, and the count is printed.
// EXPECT: data-race hits A A
#include "together.h"
#include <stdio.h>

static int hits;

static void *hit(void *unused) {
    hits++; // A
    return unused;
}

int main(void) {
    TOGETHER(hit, hit);
    printf("%d hits\n", hits);
    return 0;
}
