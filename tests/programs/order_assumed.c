// SPDX-License-Identifier: Apache-2.0
// The user is started before what it uses is made, and nothing makes it wait.
// EXPECT: failure SIGSEGV
#include "together.h"
#include <stdatomic.h>

static int table = 42;
static _Atomic(int *) made;

static void *use(void *unused) {
    int *found = atomic_load(&made);
    return *found == 42 ? unused : NULL;
}

static void *make(void *unused) {
    atomic_store(&made, &table);
    return unused;
}

int main(void) {
    TOGETHER(make, use);
    return 0;
}
