// SPDX-License-Identifier: Apache-2.0
// A buffer is filled by read while another thread works on what it held before.
// EXPECT: data-race buffer A B
#include "together.h"
#include <unistd.h>

static int ends[2];
static char buffer[16];

static void *receive(void *unused) {
    return read(ends[0], buffer, sizeof buffer) > 0 ? unused : NULL; // A
}

static void *clear(void *unused) {
    buffer[0] = 0; // B
    return unused;
}

int main(void) {
    if (pipe(ends) || write(ends[1], "hello", 5) != 5)
        return 1;
    TOGETHER(receive, clear);
    return 0;
}
