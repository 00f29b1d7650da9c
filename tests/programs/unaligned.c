// SPDX-License-Identifier: Apache-2.0
// A packed field lies across two words; its last byte is another thread's first.
// EXPECT: data-race buffer A B
#include "together.h"
#include <stdint.h>

struct __attribute__((packed)) packet {
    char kind[6];
    uint32_t length;
};
static _Alignas(16) char buffer[16];

static void *set_length(void *unused) {
    ((struct packet *)buffer)->length = 7; // A
    return unused;
}

static void *set_byte(void *unused) {
    buffer[9] = 1; // B
    return unused;
}

int main(void) {
    TOGETHER(set_length, set_byte);
    return 0;
}
