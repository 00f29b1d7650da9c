// SPDX-License-Identifier: Apache-2.0
// The lock that both take orders the accesses in one of the two orders, though it guards neither.
// EXPECT: data-race shared A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, guarded;

static void *before(void *unused) {
    shared = 1; // A
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *after(void *unused) {
    pthread_mutex_lock(&lock);
    guarded++;
    pthread_mutex_unlock(&lock);
    shared = 2; // B
    return unused;
}

int main(void) {
    TOGETHER(before, after);
    return 0;
}
