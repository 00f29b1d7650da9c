// SPDX-License-Identifier: Apache-2.0
// Two threads write with the readers' side of the lock only.
// EXPECT: data-race hits A A
#include "together.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int hits;

static void *look_up(void *unused) {
    pthread_rwlock_rdlock(&lock);
    hits++; // A
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(look_up, look_up);
    return 0;
}
