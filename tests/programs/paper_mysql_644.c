// SPDX-License-Identifier: Apache-2.0
// MySQL 644: a loop runs to a limit that another thread lowers, and steps over it.
// EXPECT: data-race limit A B
// EXPECT: failure SIGABRT
#include "together.h"
#include <assert.h>

static int limit = 2, used[8];

static void *shrink(void *unused) {
    limit = 1; // A
    return unused;
}

static void *walk(void *unused) {
    for (int i = 0; i != limit; i++) { // B
        assert(i < 2);
        used[i] = 1;
    }
    return unused;
}

int main(void) {
    TOGETHER(shrink, walk);
    return 0;
}
