// SPDX-License-Identifier: Apache-2.0
// Waits for a thread with the lock in hand that the thread needs.
// EXPECT: deadlock lock A
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *work(void *unused) {
    pthread_mutex_lock(&lock); // A
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_mutex_lock(&lock);
    TOGETHER(work);
    pthread_mutex_unlock(&lock);
    return 0;
}
