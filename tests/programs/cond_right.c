// SPDX-License-Identifier: Apache-2.0
// Waits in a loop under the lock, signals under the lock.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, message;

static void *send(void *unused) {
    pthread_mutex_lock(&lock);
    message = 7;
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    assert(message == 7);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
