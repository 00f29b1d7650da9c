// SPDX-License-Identifier: Apache-2.0
// Two packed fields lie in one word and across two, but share no byte.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdint.h>

static _Alignas(16) struct __attribute__((packed)) {
    char kind;
    uint32_t length;
    uint64_t sum;
    char end[3];
} packet;

static void *set_length(void *unused) {
    packet.length = 7;
    return unused;
}

static void *set_sum(void *unused) {
    packet.kind = 1;
    packet.sum = 8;
    packet.end[0] = 9;
    return unused;
}

int main(void) {
    TOGETHER(set_length, set_sum);
    assert(packet.length == 7 && packet.sum == 8);
    return 0;
}
