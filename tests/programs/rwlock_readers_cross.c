// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders, but everybody reads, and readers do not wait for each other.
// EXPECT: nothing
#include "together.h"

static pthread_rwlock_t one = PTHREAD_RWLOCK_INITIALIZER, other = PTHREAD_RWLOCK_INITIALIZER;

static void *forward(void *unused) {
    pthread_rwlock_rdlock(&one);
    pthread_rwlock_rdlock(&other);
    pthread_rwlock_unlock(&other);
    pthread_rwlock_unlock(&one);
    return unused;
}

static void *backward(void *unused) {
    pthread_rwlock_rdlock(&other);
    pthread_rwlock_rdlock(&one);
    pthread_rwlock_unlock(&one);
    pthread_rwlock_unlock(&other);
    return unused;
}

int main(void) {
    TOGETHER(forward, backward);
    return 0;
}
