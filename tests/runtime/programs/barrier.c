// SPDX-License-Identifier: Apache-2.0
// Barriers: rounds do not mix, one thread of each is told so, and the last may take it away.
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

#define THREADS 5
#define ROUNDS 20

static pthread_barrier_t barrier;
static int arrived[ROUNDS], serial[ROUNDS];

static void *rounds(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        __atomic_fetch_add(&arrived[i], 1, __ATOMIC_SEQ_CST);
        int result = pthread_barrier_wait(&barrier);
        CHECK(__atomic_load_n(&arrived[i], __ATOMIC_SEQ_CST) == THREADS);
        CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        __atomic_fetch_add(&serial[i], result != 0, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

static void all_rounds(void) {
    pthread_t threads[THREADS];
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, rounds, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(serial[i] == 1);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

// Whoever is told destroys it and takes its memory away, while the others may not have left yet:
// one that still looked at it would be killed.
static void *pass_once(void *argument) {
    pthread_barrier_t *shared = argument;
    if (pthread_barrier_wait(shared) == PTHREAD_BARRIER_SERIAL_THREAD) {
        CHECK(pthread_barrier_destroy(shared) == 0);
        CHECK(munmap(shared, sizeof *shared) == 0);
    }
    return NULL;
}

static void destroyed_at_once(void) {
    pthread_t threads[THREADS];
    pthread_barrier_t *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_barrier_init(shared, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, pass_once, shared) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void arguments(void) {
    pthread_barrierattr_t attributes;
    int sharing = -1;
    CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    CHECK(pthread_barrierattr_init(&attributes) == 0);
    CHECK(pthread_barrierattr_setpshared(&attributes, 77) == EINVAL);
    CHECK(pthread_barrierattr_getpshared(&attributes, &sharing) == 0);
    CHECK(sharing == PTHREAD_PROCESS_PRIVATE);
    CHECK(pthread_barrier_init(&barrier, &attributes, 1) == 0);
    CHECK(pthread_barrierattr_destroy(&attributes) == 0);
    CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

int main(void) {
    arguments();
    all_rounds();
    destroyed_at_once();
    return 0;
}
