// SPDX-License-Identifier: Apache-2.0
// Everything is ordered: by a lock, by joining, by an atomic flag.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, message;
static atomic_int ready;

static void *add(void *unused) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *publish(void *unused) {
    message = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, add, NULL);
    pthread_create(&threads[1], NULL, add, NULL);
    pthread_create(&threads[2], NULL, publish, NULL);
    int seen = atomic_load_explicit(&ready, memory_order_acquire) ? message : 42;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", counter, seen);
    return 0;
}
