// SPDX-License-Identifier: Apache-2.0
// Publication of a pointer with consume; what is read depends on the pointer.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static int message;
static _Atomic(int *) published;

static void *send(void *unused) {
    message = 7;
    atomic_store_explicit(&published, &message, memory_order_release);
    return unused;
}

static void *receive(void *unused) {
    int *found = atomic_load_explicit(&published, memory_order_consume);
    if (found)
        assert(*found == 7);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
