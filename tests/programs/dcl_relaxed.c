// SPDX-License-Identifier: Apache-2.0
// Double-checked locking with an atomic pointer, but a relaxed first check.
// EXPECT: data-race value A B
#include "together.h"
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;
static _Atomic(int *) instance;

static void make(void) {
    value = 42; // A
    atomic_store_explicit(&instance, &value, memory_order_release);
}

static int *get(void) {
    int *found = atomic_load_explicit(&instance, memory_order_relaxed);
    if (!found) {
        pthread_mutex_lock(&lock);
        if (!atomic_load_explicit(&instance, memory_order_relaxed))
            make();
        found = &value;
        pthread_mutex_unlock(&lock);
    }
    return found;
}

static void *use(void *unused) {
    int mine = *get(); // B
    (void)mine;
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    return 0;
}
