// SPDX-License-Identifier: Apache-2.0
// Two threads wait for one condition; each signal wakes one of them.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, turns;
static long first;

static void *waits(void *number) {
    pthread_mutex_lock(&lock);
    waiting++;
    while (!turns)
        pthread_cond_wait(&changed, &lock);
    turns--;
    first = first ? first : (long)number;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int signal_if_both_wait(void) {
    pthread_mutex_lock(&lock);
    int both = waiting == 2;
    if (both) {
        turns = 1;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return both;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, waits, (void *)(i + 1));
    while (!signal_if_both_wait())
        sched_yield();
    pthread_mutex_lock(&lock);
    turns++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld first\n", first);
    return 0;
}
