// SPDX-License-Identifier: Apache-2.0
// The access without a lock is reached only when the other thread has not been there yet.
// EXPECT: data-race shared A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared, published;

static void *publish(void *unused) {
    shared = 1; // A
    pthread_mutex_lock(&lock);
    published = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_mutex_lock(&lock);
    int ready = published;
    pthread_mutex_unlock(&lock);
    if (!ready)
        shared = 2; // B
    return unused;
}

int main(void) {
    TOGETHER(publish, look);
    return 0;
}
