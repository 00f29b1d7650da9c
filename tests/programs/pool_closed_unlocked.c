// SPDX-License-Identifier: Apache-2.0
// The pool is closed without the lock: workers may miss it, and then wait for ever.
// EXPECT: data-race closed A B
// EXPECT: lost-wakeup changed C D
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int closed;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    while (!closed)                         // B
        pthread_cond_wait(&changed, &lock); // C
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *close_it(void *unused) {
    closed = 1;                       // A
    pthread_cond_broadcast(&changed); // D
    return unused;
}

int main(void) {
    TOGETHER(work, work, close_it);
    return 0;
}
