// SPDX-License-Identifier: Apache-2.0
// Robust mutexes, priority protocols, and what attributes refuse.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t made_with(int type, int robust, int protocol) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, type) == 0);
    CHECK(pthread_mutexattr_setrobust(&attributes, robust) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, protocol) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    return mutex;
}

static void run_and_join(void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void *take_and_end(void *mutex) {
    CHECK(pthread_mutex_lock(mutex) == 0);
    return NULL;
}

static void *cannot_unlock(void *mutex) {
    CHECK(pthread_mutex_unlock(mutex) == EPERM);
    CHECK(pthread_mutex_trylock(mutex) == EBUSY);
    CHECK(pthread_mutex_timedlock(mutex, &no_time[0]) == EINVAL);
    CHECK(pthread_mutex_timedlock(mutex, &long_ago) == ETIMEDOUT);
    CHECK(pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &long_ago) == EINVAL);
    return NULL;
}

// --- the owner has ended

static void repaired(int type) {
    pthread_mutex_t mutex = made_with(type, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    run_and_join(take_and_end, &mutex);
    CHECK(pthread_mutex_consistent(&mutex) == EINVAL); // not its owner yet
    CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    run_and_join(cannot_unlock, &mutex);
    CHECK(pthread_mutex_consistent(&mutex) == 0);
    CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == EPERM);
    CHECK(pthread_mutex_timedlock(&mutex, &no_time[0]) == 0); // no need to wait
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void not_repaired(void) {
    pthread_mutex_t mutex =
        made_with(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    run_and_join(take_and_end, &mutex);
    CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_timedlock(&mutex, &long_ago) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
    CHECK(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
}

// Waiters learn of it too: one repairs, the others never see it. (What they do when nobody repairs
// is not asked: glibc 2.36 then leaves the second waiter asleep.)
static pthread_barrier_t taken;
static int dead_owner, sound;

static void *take_then_end(void *mutex) {
    CHECK(pthread_mutex_lock(mutex) == 0);
    pthread_barrier_wait(&taken);
    return NULL;
}

static void *wait_for_it(void *mutex) {
    pthread_barrier_wait(&taken);
    int result = pthread_mutex_lock(mutex);
    __atomic_fetch_add(&dead_owner, result == EOWNERDEAD, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&sound, result == 0, __ATOMIC_SEQ_CST);
    if (result == EOWNERDEAD)
        CHECK(pthread_mutex_consistent(mutex) == 0);
    CHECK(pthread_mutex_unlock(mutex) == 0);
    return NULL;
}

static void waiters_learn(void) {
    pthread_t threads[4];
    pthread_mutex_t mutex =
        made_with(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    CHECK(pthread_barrier_init(&taken, NULL, 4) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i ? wait_for_it : take_then_end, &mutex) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(dead_owner == 1 && sound == 2);
    CHECK(pthread_barrier_destroy(&taken) == 0);
}

static void *take_all_and_end(void *mutexes) {
    pthread_mutex_t *all = mutexes;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_mutex_lock(&all[i]) == 0);
    CHECK(pthread_mutex_unlock(&all[1]) == 0);
    return NULL;
}

static void several(void) {
    pthread_mutex_t all[3];
    for (int i = 0; i < 3; i++)
        all[i] = made_with(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    run_and_join(take_all_and_end, all);
    CHECK(pthread_mutex_lock(&all[0]) == EOWNERDEAD);
    CHECK(pthread_mutex_lock(&all[1]) == 0);
    CHECK(pthread_mutex_lock(&all[2]) == EOWNERDEAD);
}

// A wait takes the mutex again, and may find that its owner has ended meanwhile.
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_changed;

static void *change_and_end(void *mutex) {
    CHECK(pthread_mutex_lock(mutex) == 0);
    is_changed = 1;
    CHECK(pthread_cond_signal(&changed) == 0);
    return NULL;
}

static void owner_dies_during_wait(void) {
    pthread_t thread;
    pthread_mutex_t mutex =
        made_with(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    CHECK(pthread_cond_wait(&changed, &mutex) == EPERM);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_create(&thread, NULL, change_and_end, &mutex) == 0);
    int result = 0;
    while (!is_changed)
        result = pthread_cond_wait(&changed, &mutex);
    CHECK(result == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

// --- priority protocols

static void *count_with(void *mutex) {
    static int count;
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_mutex_lock(mutex) == 0);
        count++;
        CHECK(pthread_mutex_unlock(mutex) == 0);
    }
    return (void *)(long)count;
}

static void inherits(void) {
    pthread_t threads[3];
    pthread_mutex_t mutex =
        made_with(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    int ceiling;
    CHECK(pthread_mutex_getprioceiling(&mutex, &ceiling) == EINVAL);
    CHECK(pthread_mutex_setprioceiling(&mutex, 10, &ceiling) == EINVAL);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, count_with, &mutex) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK((long)count_with(&mutex) == 200);
    CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void ceilings(void) {
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    int ceiling = -1;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT) == 0);
    CHECK(pthread_mutexattr_setprioceiling(&attributes, 1000) == EINVAL);
    CHECK(pthread_mutexattr_setprioceiling(&attributes, 20) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == 0);
    CHECK(pthread_mutex_getprioceiling(&mutex, &ceiling) == 0 && ceiling == 20);
    CHECK(pthread_mutex_setprioceiling(&mutex, 1000, &ceiling) == EINVAL);
    CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&mutex, &attributes) == ENOTSUP);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
}

static void refused_attributes(void) {
    pthread_mutexattr_t attributes;
    int value = -1;
    CHECK(pthread_mutexattr_init(&attributes) == 0);
    CHECK(pthread_mutexattr_settype(&attributes, 77) == EINVAL);
    CHECK(pthread_mutexattr_setrobust(&attributes, 77) == EINVAL);
    CHECK(pthread_mutexattr_setprotocol(&attributes, 77) == EINVAL);
    CHECK(pthread_mutexattr_setpshared(&attributes, 77) == EINVAL);
    CHECK(pthread_mutexattr_getpshared(&attributes, &value) == 0);
    CHECK(value == PTHREAD_PROCESS_PRIVATE);
    CHECK(pthread_mutexattr_destroy(&attributes) == 0);
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    CHECK(pthread_mutex_consistent(&plain) == EINVAL);
}

int main(void) {
    repaired(PTHREAD_MUTEX_NORMAL);
    repaired(PTHREAD_MUTEX_RECURSIVE);
    repaired(PTHREAD_MUTEX_ERRORCHECK);
    not_repaired();
    waiters_learn();
    several();
    owner_dies_during_wait();
    inherits();
    ceilings();
    refused_attributes();
    return 0;
}
