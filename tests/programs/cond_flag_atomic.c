// SPDX-License-Identifier: Apache-2.0
// The flag is atomic, so there is no data race; the wake-up gets lost all the same.
// EXPECT: lost-wakeup changed A B
#include "together.h"
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *send(void *unused) {
    atomic_store(&ready, 1);
    pthread_cond_signal(&changed); // B
    return unused;
}

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);
    while (!atomic_load(&ready))
        pthread_cond_wait(&changed, &lock); // A
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(receive, send);
    return 0;
}
