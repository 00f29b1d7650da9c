// SPDX-License-Identifier: Apache-2.0
// Publication with the strongest order.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static atomic_int ready;
static int message;

static void *send(void *unused) {
    message = 7;
    atomic_store(&ready, 1);
    return unused;
}

static void *receive(void *unused) {
    if (atomic_load(&ready))
        assert(message == 7);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
