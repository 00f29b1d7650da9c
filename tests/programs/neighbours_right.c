// SPDX-License-Identifier: Apache-2.0
// Four threads write four neighbouring bytes.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <string.h>

static char word[4];

static void *zero(void *unused) {
    word[0] = 'r';
    return unused;
}

static void *one(void *unused) {
    word[1] = 'a';
    return unused;
}

static void *two(void *unused) {
    word[2] = 'c';
    return unused;
}

static void *three(void *unused) {
    word[3] = 'e';
    return unused;
}

int main(void) {
    TOGETHER(zero, one, two, three);
    assert(memcmp(word, "race", 4) == 0);
    return 0;
}
