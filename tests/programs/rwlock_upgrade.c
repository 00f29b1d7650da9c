// SPDX-License-Identifier: Apache-2.0
// Both hold the readers' side and want the writers' side too: neither gets it.
// EXPECT: deadlock lock B
#include "together.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int version;

static void *upgrade(void *unused) {
    pthread_rwlock_rdlock(&lock);
    if (version == 0) {
        pthread_rwlock_wrlock(&lock); // B
        version = 1;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(upgrade, upgrade);
    return 0;
}
