// SPDX-License-Identifier: Apache-2.0
// The least value is looked at and changed in two steps: a greater one may stay.
// EXPECT: data-race least A A
#include "together.h"
#include <stdio.h>

static int least = 9;

static void offer(int value) {
    if (value < least) // A
        least = value; // A
}

static void *three(void *unused) {
    offer(3);
    return unused;
}

static void *five(void *unused) {
    offer(5);
    return unused;
}

int main(void) {
    TOGETHER(three, five);
    printf("%d\n", least);
    return 0;
}
