// SPDX-License-Identifier: Apache-2.0
// A handler takes the lock that the thread it interrupts may hold.
// EXPECT: deadlock lock A B
#include "together.h"
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static pthread_t target;

static void handle(int number) {
    (void)number;
    pthread_mutex_lock(&lock); // B
    counter++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock); // A
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    signal(SIGUSR1, handle);
    pthread_create(&target, NULL, work, NULL);
    pthread_kill(target, SIGUSR1);
    pthread_join(target, NULL);
    return 0;
}
