// SPDX-License-Identifier: Apache-2.0
// Volatile is not atomic: the flag races, and so does what it stands for.
// EXPECT: data-race ready A B
// EXPECT: data-race message C D
#include "together.h"

static volatile int ready;
static int message, seen;

static void *send(void *unused) {
    message = 7; // C
    ready = 1;   // A
    return unused;
}

static void *receive(void *unused) {
    if (ready)          // B
        seen = message; // D
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
