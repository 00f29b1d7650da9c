// SPDX-License-Identifier: Apache-2.0
// Two threads print to one stream: stdio has its own lock.
// EXPECT: nothing
#include "together.h"
#include <stdio.h>

static void *print(void *unused) {
    printf("%s %d\n", "line", 1);
    fputs("another\n", stdout);
    return unused;
}

int main(void) {
    TOGETHER(print, print);
    return 0;
}
