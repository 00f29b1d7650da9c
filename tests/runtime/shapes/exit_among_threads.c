// SPDX-License-Identifier: Apache-2.0
// exit while other threads run, wait and hold locks: handlers run, take locks, and see them
// waiting.
#include "death.h"

#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t never, there;
static int counted, order;

static void *counts(void *unused) {
    sem_post(&there);
    for (;;) {
        pthread_mutex_lock(&lock);
        counted++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *waits(void *unused) {
    sem_post(&there);
    sem_wait(&never);
    return unused;
}

static void last(void) {
    pthread_mutex_lock(&lock);
    if (order != 2)
        _exit(50);
    pthread_mutex_unlock(&lock);
}

static void second(void) {
    pthread_mutex_lock(&lock);
    order += order == 1;
    pthread_mutex_unlock(&lock);
}

static void first(void) {
    pthread_t thread;
    order = 1;
    pthread_create(&thread, NULL, counts, NULL); // also now
}

static void *exits(void *unused) {
    (void)unused;
    exit(5);
}

static void start(void) {
    pthread_t threads[3];
    atexit(last);
    atexit(second);
    atexit(first);
    sem_init(&never, 0, 0);
    sem_init(&there, 0, 0);
    CHECK(pthread_create(&threads[0], NULL, counts, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, waits, NULL) == 0);
    sem_wait(&there);
    sem_wait(&there);
}

static void by_main(void) {
    start();
    exit(5);
}

static void by_thread(void) {
    pthread_t thread;
    start();
    CHECK(pthread_create(&thread, NULL, exits, NULL) == 0);
    sem_wait(&never);
}

int main(void) {
    int ends[] = {end_of(by_main), end_of(by_thread)};
    for (int i = 0; i < 2; i++)
        CHECK(WIFEXITED(ends[i]) && WEXITSTATUS(ends[i]) == 5);
    return 0;
}
