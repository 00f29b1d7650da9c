// SPDX-License-Identifier: Apache-2.0
// Two threads add to a counter, one of them without the lock; `other` is only ever locked.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, other;

static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    other++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *careless(void *unused) {
    counter++;
    pthread_mutex_lock(&lock);
    other++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, careful, NULL);
    pthread_create(&two, NULL, careless, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d %d\n", counter, other);
    return 0;
}
