// SPDX-License-Identifier: Apache-2.0
// Waits with a mutex that it does not hold.
// EXPECT: lock-misuse lock A
// EXPECT: data-race ready B C
// MAY: lock-misuse lock D, because whether the wait took the mutex is not defined
// MAY: lock-misuse lock E, because the wait may have given back the sender's mutex
#include "together.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *receive(void *unused) {
    while (!ready) { // B
        struct timespec long_ago = {0, 0};
        pthread_cond_timedwait(&changed, &lock, &long_ago); // A
        pthread_mutex_unlock(&lock);                        // D
    }
    return unused;
}

static void *send(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;                   // C
    pthread_mutex_unlock(&lock); // E
    pthread_cond_broadcast(&changed);
    return unused;
}

int main(void) {
    TOGETHER(receive, send);
    return 0;
}
