// SPDX-License-Identifier: Apache-2.0
// A plain flag instead of pthread_once.
// EXPECT: data-race made A A
// EXPECT: data-race table B B
// EXPECT: data-race table B C
// EXPECT: failure SIGABRT
#include "together.h"
#include <assert.h>

static int made, table;

static void make(void) {
    if (!made) {     // A
        made = 1;    // A
        table += 42; // B
    }
}

static void *use(void *unused) {
    make();
    assert(table == 42); // C
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    return 0;
}
