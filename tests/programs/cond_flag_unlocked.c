// SPDX-License-Identifier: Apache-2.0
// The flag is set and the signal sent without the lock: both a race and a lost wake-up.
// EXPECT: data-race ready A B
// EXPECT: lost-wakeup changed C D
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *send(void *unused) {
    ready = 1;                     // A
    pthread_cond_signal(&changed); // D
    return unused;
}

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);
    while (!ready)                          // B
        pthread_cond_wait(&changed, &lock); // C
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
