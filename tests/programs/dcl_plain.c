// SPDX-License-Identifier: Apache-2.0
// Double-checked locking with a plain pointer: the first check races with the store.
// EXPECT: data-race instance A B
// EXPECT: data-race value C D
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value, seen;
static int *instance;

static void make(void) {
    value = 42;        // C
    instance = &value; // B
}

static int *get(void) {
    if (!instance) { // A
        pthread_mutex_lock(&lock);
        if (!instance)
            make();
        pthread_mutex_unlock(&lock);
    }
    return instance; // A
}

static void *use(void *unused) {
    int mine = *get(); // D
    __atomic_store_n(&seen, mine, __ATOMIC_RELAXED);
    return unused;
}

int main(void) {
    TOGETHER(use, use);
    return 0;
}
