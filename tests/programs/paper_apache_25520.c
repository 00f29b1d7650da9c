// SPDX-License-Identifier: Apache-2.0
// Apache 25520: two threads add lines to one buffer of the log; its length and text get mixed up.
// EXPECT: data-race length A A
// EXPECT: data-race text A A
// EXPECT: failure SIGABRT
#include "together.h"
#include <assert.h>
#include <string.h>

static char text[64];
static size_t length;

static void *log_request(void *unused) {
    static const char line[] = "GET /";
    memcpy(text + length, line, 5); // A
    length += 5;                    // A
    return unused;
}

int main(void) {
    TOGETHER(log_request, log_request);
    assert(length == 10);
    return 0;
}
