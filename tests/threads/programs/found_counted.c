// SPDX-License-Identifier: Apache-2.0
// Counts references as shared pointers do, but one user writes after its own was given back: a
// race. A lock that this one had, and freed, puts nothing in order.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile int data;
static atomic_int references = 2, done, over;

static void *stay(void *unused) { // so that clocks have three entries
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        ;
    return unused;
}

static void *use(void *unused) {
    data = 1;
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    pthread_mutex_destroy(lock);
    free(lock);
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t one, other;
    atomic_fetch_sub_explicit(&references, 1, memory_order_release);
    pthread_create(&one, NULL, stay, NULL);
    pthread_create(&other, NULL, use, NULL);
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        ;
    if (atomic_fetch_sub_explicit(&references, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        data = 2;
    }
    atomic_store_explicit(&over, 1, memory_order_relaxed);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
