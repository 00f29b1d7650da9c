// SPDX-License-Identifier: Apache-2.0
// Waits for the signal itself, which is not kept for those who come later.
// EXPECT: lost-wakeup changed A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *send(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed); // B
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *receive(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&changed, &lock); // A
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(send, receive);
    return 0;
}
