// SPDX-License-Identifier: Apache-2.0
// One thread has the lower half of a word, the other byte by byte the upper one.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdint.h>

static union {
    uint64_t whole;
    uint32_t halves[2];
    uint8_t bytes[8];
} word;

static void *lower(void *unused) {
    word.halves[0] = 0x01010101;
    return unused;
}

static void *upper(void *unused) {
    for (int i = 4; i < 8; i++)
        word.bytes[i] = 1;
    return unused;
}

int main(void) {
    TOGETHER(lower, upper);
    assert(word.whole == 0x0101010101010101);
    return 0;
}
