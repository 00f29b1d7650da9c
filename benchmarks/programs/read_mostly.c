// SPDX-License-Identifier: Apache-2.0
// Threads that look things up in one sorted table under a read-write lock, and seldom change it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, ROUTES = 4096, LOOKUPS = 4, SELDOM = 500 };

struct route {
    unsigned key, hops;
};
static struct route routes[ROUTES];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int operations;

static struct route *find(unsigned key) {
    unsigned low = 0, high = ROUTES;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (routes[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return &routes[low];
}

static void look_up(unsigned *state) {
    pthread_rwlock_rdlock(&lock);
    for (int i = 0; i < LOOKUPS; i++) {
        *state = *state * 1664525 + 1013904223;
        unsigned key = (*state >> 16) % ROUTES * 2;
        if (find(key)->key != key)
            abort();
    }
    pthread_rwlock_unlock(&lock);
}

static void change(unsigned state) {
    pthread_rwlock_wrlock(&lock);
    find((state >> 16) % ROUTES * 2)->hops++;
    pthread_rwlock_unlock(&lock);
}

static void *work(void *argument) {
    unsigned state = (unsigned)(long)argument;
    for (int i = 1; i <= operations; i++)
        if (i % SELDOM)
            look_up(&state);
        else
            change(state);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    unsigned long total = 0;
    operations = count > 1 ? atoi(arguments[1]) : 100000;
    for (unsigned i = 0; i < ROUTES; i++)
        routes[i].key = i * 2;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ROUTES; i++)
        total += routes[i].hops;
    printf("%lu\n", total);
    return 0;
}
