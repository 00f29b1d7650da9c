// SPDX-License-Identifier: Apache-2.0
// The job is counted as done before its result is stored.
// EXPECT: data-race results A B
#include "together.h"
#include <stdatomic.h>

static int results[2], sum;
static atomic_int done;

static void *work(void *unused) {
    int mine = atomic_fetch_add(&done, 1);
    results[mine] = mine + 1; // A
    return unused;
}

static void *collect(void *unused) {
    if (atomic_load(&done) == 2)
        sum = results[0] + results[1]; // B
    return unused;
}

int main(void) {
    TOGETHER(work, work, collect);
    return 0;
}
