// SPDX-License-Identifier: Apache-2.0
// The same memory is a mutex, a condition, a semaphore, a lock for readers, a barrier, and a mutex
// again; who destroys it may be the last that used it.
#include "team.h"

#include <semaphore.h>
#include <string.h>

static union {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    sem_t semaphore;
} memory;
static int shared;

static void *locks(void *number) {
    pthread_mutex_lock(&memory.mutex);
    shared++;
    pthread_mutex_unlock(&memory.mutex);
    return number;
}

static void *posts(void *number) {
    sem_post(&memory.semaphore);
    sem_wait(&memory.semaphore);
    sem_post(&memory.semaphore);
    return number;
}

static void *reads_or_writes(void *number) {
    if (number_of(number) % 2) {
        pthread_rwlock_wrlock(&memory.rwlock);
        shared++;
    } else {
        pthread_rwlock_rdlock(&memory.rwlock);
    }
    pthread_rwlock_unlock(&memory.rwlock);
    return number;
}

static void *meets(void *number) {
    if (pthread_barrier_wait(&memory.barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        shared++;
    return number;
}

static void *spins(void *number) {
    pthread_spin_lock(&memory.spin);
    shared++;
    pthread_spin_unlock(&memory.spin);
    return number;
}

static void round_of_all(int kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    shared = 0;
    CHECK(pthread_mutex_init(&memory.mutex, &attributes) == 0);
    run_team(4, locks);
    CHECK(pthread_mutex_destroy(&memory.mutex) == 0);
    CHECK(sem_init(&memory.semaphore, 0, 0) == 0);
    run_team(4, posts);
    CHECK(sem_destroy(&memory.semaphore) == 0);
    CHECK(pthread_rwlock_init(&memory.rwlock, NULL) == 0);
    run_team(4, reads_or_writes);
    CHECK(pthread_rwlock_destroy(&memory.rwlock) == 0);
    CHECK(pthread_barrier_init(&memory.barrier, NULL, 4) == 0);
    run_team(4, meets);
    CHECK(pthread_barrier_destroy(&memory.barrier) == 0);
    CHECK(pthread_spin_init(&memory.spin, PTHREAD_PROCESS_PRIVATE) == 0);
    run_team(4, spins);
    CHECK(pthread_spin_destroy(&memory.spin) == 0);
    CHECK(shared == 4 + 2 + 1 + 4);
}

int main(void) {
    int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int i = 0; i < 6; i++)
        round_of_all(kinds[i % 3]);
    memset(&memory, 0, sizeof memory); // what PTHREAD_MUTEX_INITIALIZER is, too
    run_team(4, locks);
    CHECK(shared == 15);
    return 0;
}
