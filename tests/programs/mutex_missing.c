// SPDX-License-Identifier: Apache-2.0
// Two threads add to a counter, and there is no lock at all.
// EXPECT: data-race counter A A
#include "together.h"

static int counter;

static void *add(void *unused) {
    counter++; // A
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    return 0;
}
