// SPDX-License-Identifier: Apache-2.0
// A sum is printed by a thread that does not wait until all of it is there.
// EXPECT: data-race total A B
#include "together.h"
#include <stdio.h>

static int total;

static void *add(void *unused) {
    for (int i = 1; i <= 2; i++)
        total += i; // A
    return unused;
}

static void *print(void *unused) {
    printf("%d\n", total); // B
    return unused;
}

int main(void) {
    TOGETHER(add, print);
    return 0;
}
