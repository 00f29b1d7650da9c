// SPDX-License-Identifier: Apache-2.0
// Reads under the lock and writes under the lock, but gives it back in between.
// EXPECT: failure SIGABRT
// MAY: atomicity counter, because the read and the write belong together
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    int now = counter;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    counter = now + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    assert(counter == 2);
    return 0;
}
