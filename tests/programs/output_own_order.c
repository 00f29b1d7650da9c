// SPDX-License-Identifier: Apache-2.0
// One thread says two things, in an order that a flag without a lock decides; another speaks
// when it likes. Who listens to the first thread hears the difference, whatever comes between.
// EXPECT: data-race urgent A B
#include "together.h"
#include <stdio.h>

static int urgent;

static void *announce(void *unused) {
    int first = urgent; // A
    puts(first ? "act" : "think");
    puts(first ? "think" : "act");
    return unused;
}

static void *press(void *unused) {
    puts("pressed");
    urgent = 1; // B
    return unused;
}

int main(void) {
    TOGETHER(announce, press);
    return 0;
}
