// SPDX-License-Identifier: Apache-2.0
// Two threads say who they are; who comes last is what is printed.
// EXPECT: data-race winner A A
#include "together.h"
#include <stdio.h>

static const char *winner;

static void claim(const char *name) {
    winner = name; // A
}

static void *first(void *unused) {
    claim("first");
    return unused;
}

static void *second(void *unused) {
    claim("second");
    return unused;
}

int main(void) {
    TOGETHER(first, second);
    puts(winner);
    return 0;
}
