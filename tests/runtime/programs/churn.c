// SPDX-License-Identifier: Apache-2.0
// Threads that come and go, thousands of them, each with its own allocations: memory stays bounded.
#include "check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TURNS 400
#define AT_ONCE 5

static long resident_pages(void) {
    long size, resident;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &size, &resident) == 2);
    fclose(file);
    return resident;
}

static long mapped_pages(void) {
    long size;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &size) == 1);
    fclose(file);
    return size;
}

static _Thread_local char own[3000];

static void *allocates(void *number) {
    char *blocks[12];
    for (int i = 0; i < 3000; i += 500)
        CHECK(own[i] == 0); // not what another thread left
    memset(own, 1, sizeof own);
    for (int i = 0; i < 12; i++) // many sizes: malloc keeps some of each for the thread
        memset(blocks[i] = malloc(20 + 80 * (size_t)i), 1, 20);
    for (int i = 0; i < 12; i++)
        free(blocks[i]);
    return number;
}

static void turn(void) {
    pthread_t threads[AT_ONCE];
    for (long i = 0; i < AT_ONCE; i++)
        CHECK(pthread_create(&threads[i], NULL, allocates, (void *)i) == 0);
    for (long i = 0; i < AT_ONCE; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == (void *)i);
    }
}

static void detached_turn(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocates, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
}

int main(void) {
    for (int i = 0; i < 20; i++)
        turn();
    long resident = resident_pages(), mapped = mapped_pages();
    for (int i = 0; i < TURNS; i++)
        turn();
    // 2,000 threads: had each left its malloc cache behind, it would be 3,000 pages.
    CHECK(resident_pages() - resident < 500);
    CHECK(mapped_pages() - mapped < 40 * 2048);
    for (int i = 0; i < 200; i++)
        detached_turn();
    return 0;
}
