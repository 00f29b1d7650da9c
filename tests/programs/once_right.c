// SPDX-License-Identifier: Apache-2.0
// Both threads come through pthread_once before they read what it made.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int table;

static void make(void) {
    table += 42;
}

static void *use(void *unused) {
    pthread_once(&once, make);
    assert(table == 42);
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    return 0;
}
