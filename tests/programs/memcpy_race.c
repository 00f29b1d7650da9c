// SPDX-License-Identifier: Apache-2.0
// Two copies into one buffer, which overlap by one byte.
// EXPECT: data-race buffer A B
#include "together.h"
#include <string.h>

static char buffer[64];

static void *fill_front(void *unused) {
    char part[33] = "front";
    memcpy(buffer, part, sizeof part); // A
    return unused;
}

static void *fill_back(void *unused) {
    char part[32] = "back";
    memcpy(buffer + 32, part, sizeof part); // B
    return unused;
}

int main(void) {
    TOGETHER(fill_front, fill_back);
    return 0;
}
