// SPDX-License-Identifier: Apache-2.0
// A lock is given back on a path that did not get it.
// EXPECT: lock-misuse lock A
#include "together.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *try_to_write(void *unused) {
    if (pthread_rwlock_trywrlock(&lock) == 0)
        value++;
    pthread_rwlock_unlock(&lock); // A
    return unused;
}

int main(void) {
    TOGETHER(try_to_write, try_to_write);
    return 0;
}
