// SPDX-License-Identifier: Apache-2.0
// A path gives back a mutex that it never took.
// EXPECT: lock-misuse lock A
#include "together.h"
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int arrived;

static void *leave(void *unused) {
    int first = atomic_fetch_add(&arrived, 1) == 0;
    if (first)
        pthread_mutex_lock(&lock);
    if (first)
        pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(leave, leave);
    pthread_mutex_unlock(&lock); // A
    return 0;
}
