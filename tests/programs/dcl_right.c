// SPDX-License-Identifier: Apache-2.0
// Double-checked locking with acquire and release.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;
static _Atomic(int *) instance;

static int *get(void) {
    int *found = atomic_load_explicit(&instance, memory_order_acquire);
    if (!found) {
        pthread_mutex_lock(&lock);
        found = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!found) {
            value += 42;
            found = &value;
            atomic_store_explicit(&instance, found, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static void *use(void *unused) {
    assert(*get() == 42);
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    return 0;
}
