// SPDX-License-Identifier: Apache-2.0
// One thread formats into a line that another one prints.
// EXPECT: data-race line A B
#include "together.h"
#include <stdio.h>

static char line[32] = "nothing";

static void *format(void *number) {
    snprintf(line, sizeof line, "%d apples", 12); // A
    return number;
}

static void *print(void *unused) {
    printf("%s\n", line); // B
    return unused;
}

int main(void) {
    TOGETHER(format, print);
    return 0;
}
