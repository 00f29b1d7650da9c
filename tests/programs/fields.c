// SPDX-License-Identifier: Apache-2.0
// Three fields: one has its lock, one is read by one thread only, the third races.
// EXPECT: data-race stats.misses A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long hits, private_to_two, misses;
} stats;

static void *one(void *unused) {
    pthread_mutex_lock(&lock);
    stats.hits++;
    pthread_mutex_unlock(&lock);
    stats.misses++; // A
    return unused;
}

static void *two(void *unused) {
    pthread_mutex_lock(&lock);
    stats.hits++;
    pthread_mutex_unlock(&lock);
    stats.private_to_two++;
    stats.misses++; // B
    return unused;
}

int main(void) {
    TOGETHER(one, two);
    return 0;
}
