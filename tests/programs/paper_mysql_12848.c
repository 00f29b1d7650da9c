// SPDX-License-Identifier: Apache-2.0
// MySQL 12848: resizing sets the size of the cache to nothing for a moment; one reader has no lock.
// EXPECT: data-race cache_size A B
// EXPECT: failure SIGFPE
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cache_size = 4, share;

static void *resize(void *unused) {
    pthread_mutex_lock(&lock);
    cache_size = 0; // A
    cache_size = 8; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *query(void *unused) {
    share = 64 / cache_size; // B
    return unused;
}

int main(void) {
    TOGETHER(resize, query);
    return 0;
}
