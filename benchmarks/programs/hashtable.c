// SPDX-License-Identifier: Apache-2.0
// Threads that look up and insert in one chained hash table with a mutex per 16 buckets.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, BUCKETS = 1 << 14, LOCKS = BUCKETS / 16, KEYS = 1 << 16 };

struct entry {
    uint32_t key, count;
    struct entry *next;
};
static struct entry *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS];
static int operations;

static void count_key(uint32_t key) {
    uint32_t bucket = key * 2654435761u % BUCKETS;
    pthread_mutex_lock(&locks[bucket % LOCKS]);
    struct entry *entry = buckets[bucket];
    while (entry && entry->key != key)
        entry = entry->next;
    if (!entry) {
        entry = malloc(sizeof *entry);
        *entry = (struct entry){key, 0, buckets[bucket]};
        buckets[bucket] = entry;
    }
    entry->count++;
    pthread_mutex_unlock(&locks[bucket % LOCKS]);
}

static void *work(void *argument) {
    uint32_t state = (uint32_t)(long)argument + 1;
    for (int i = 0; i < operations; i++) {
        state = state * 1664525 + 1013904223;
        count_key(state >> 16 & (KEYS - 1));
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    unsigned long total = 0;
    operations = count > 1 ? atoi(arguments[1]) : 100000;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry *entry = buckets[i]; entry; entry = entry->next)
            total += entry->count;
    printf("%lu\n", total);
    return 0;
}
