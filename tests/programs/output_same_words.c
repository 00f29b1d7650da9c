// SPDX-License-Identifier: Apache-2.0
// Which of two answers is taken depends on the order, but both say the same.
// EXPECT: data-race fast A B
#include "together.h"
#include <stdio.h>

static int fast;
static const char *const answers[] = {"forty-two", "forty-two"};

static void *decide(void *unused) {
    fast = 1; // A
    return unused;
}

static void *answer(void *unused) {
    puts(answers[fast]); // B
    return unused;
}

int main(void) {
    TOGETHER(decide, answer);
    return 0;
}
