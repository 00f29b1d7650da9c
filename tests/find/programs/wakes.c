// SPDX-License-Identifier: Apache-2.0
// A wake-up that can be lost, after so many accesses.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int items[1024];
static long accesses;

static void *waits(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int count, char **arguments) {
    pthread_t thread;
    accesses = count > 1 ? atol(arguments[1]) : 0;
    pthread_create(&thread, NULL, waits, NULL);
    for (long i = 0; i < accesses; i++)
        items[i % 1024]++;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
