// SPDX-License-Identifier: Apache-2.0
// Eight bytes are written at once, one byte in the middle of them is read.
// EXPECT: data-race word A B
#include "together.h"
#include <stdint.h>

static union {
    uint64_t whole;
    uint8_t bytes[8];
} word;
static int seen;

static void *write_whole(void *unused) {
    word.whole = UINT64_MAX; // A
    return unused;
}

static void *read_byte(void *unused) {
    seen = word.bytes[5]; // B
    return unused;
}

int main(void) {
    TOGETHER(write_whole, read_byte);
    return 0;
}
