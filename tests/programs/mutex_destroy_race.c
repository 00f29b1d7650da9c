// SPDX-License-Identifier: Apache-2.0
// A mutex is destroyed, and nothing orders this with another thread's use of it.
// EXPECT: data-race lock A B
// MAY: lock-misuse lock A, because it is destroyed while it is held or used when it is destroyed
// MAY: lock-misuse lock B, for the same reason
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *use(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0) // B
        pthread_mutex_unlock(&lock);       // B
    return unused;
}

static void *destroy(void *unused) {
    pthread_mutex_destroy(&lock); // A
    return unused;
}

int main(void) {
    TOGETHER(use, destroy);
    return 0;
}
