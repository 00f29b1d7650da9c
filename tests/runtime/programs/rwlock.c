// SPDX-License-Identifier: Apache-2.0
// Readers together, writers alone; who is refused, who waits, and for how long.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t plain = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t writers_first = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *run_elsewhere(void *function) {
    ((void (*)(void))function)();
    return NULL;
}

static void elsewhere(void (*function)(void)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, run_elsewhere, (void *)function) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

// --- refusals

static void while_another_writes(void) {
    CHECK(pthread_rwlock_tryrdlock(&plain) == EBUSY);
    CHECK(pthread_rwlock_trywrlock(&plain) == EBUSY);
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedrdlock(&plain, &when) == ETIMEDOUT);
    CHECK(has_passed(CLOCK_REALTIME, &when));
    CHECK(pthread_rwlock_timedwrlock(&plain, &when) == ETIMEDOUT);
    when = soon(CLOCK_MONOTONIC);
    CHECK(pthread_rwlock_clockrdlock(&plain, CLOCK_MONOTONIC, &when) == ETIMEDOUT);
    CHECK(has_passed(CLOCK_MONOTONIC, &when));
    CHECK(pthread_rwlock_clockwrlock(&plain, CLOCK_MONOTONIC, &when) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedrdlock(&plain, &before_all) == ETIMEDOUT);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_rwlock_timedrdlock(&plain, &no_time[i]) == EINVAL);
        CHECK(pthread_rwlock_timedwrlock(&plain, &no_time[i]) == EINVAL);
        CHECK(pthread_rwlock_clockrdlock(&plain, CLOCK_MONOTONIC, &no_time[i]) == EINVAL);
    }
    CHECK(pthread_rwlock_clockwrlock(&plain, CLOCK_PROCESS_CPUTIME_ID, &when) == EINVAL);
}

static void while_another_reads(void) {
    CHECK(pthread_rwlock_tryrdlock(&plain) == 0);
    CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_rdlock(&plain) == 0);
    CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_trywrlock(&plain) == EBUSY);
    CHECK(pthread_rwlock_timedwrlock(&plain, &long_ago) == ETIMEDOUT);
    struct timespec when = late(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedrdlock(&plain, &when) == 0);
    CHECK(pthread_rwlock_unlock(&plain) == 0);
}

static void refusals(void) {
    CHECK(pthread_rwlock_wrlock(&plain) == 0);
    CHECK(pthread_rwlock_rdlock(&plain) == EDEADLK);
    CHECK(pthread_rwlock_wrlock(&plain) == EDEADLK);
    CHECK(pthread_rwlock_tryrdlock(&plain) == EBUSY);
    elsewhere(while_another_writes);
    CHECK(pthread_rwlock_unlock(&plain) == 0);

    CHECK(pthread_rwlock_rdlock(&plain) == 0);
    CHECK(pthread_rwlock_rdlock(&plain) == 0); // a reader may read again
    elsewhere(while_another_reads);
    CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_trywrlock(&plain) == EBUSY);
    CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_rwlock_clockwrlock(&plain, CLOCK_REALTIME, &long_ago) == 0); // no need to wait
    CHECK(pthread_rwlock_unlock(&plain) == 0);
}

// --- exclusion

static int value, readers, most_readers;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;

static void count_reader(int change) {
    pthread_mutex_lock(&count_lock);
    readers += change;
    most_readers = readers > most_readers ? readers : most_readers;
    pthread_mutex_unlock(&count_lock);
}

static void *write_often(void *lock) {
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_rwlock_wrlock(lock) == 0);
        CHECK(value % 2 == 0);
        value++;
        CHECK(readers == 0);
        value++;
        CHECK(pthread_rwlock_unlock(lock) == 0);
    }
    return NULL;
}

static void *read_often(void *lock) {
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_rwlock_rdlock(lock) == 0);
        count_reader(1);
        CHECK(value % 2 == 0);
        count_reader(-1);
        CHECK(pthread_rwlock_unlock(lock) == 0);
    }
    return NULL;
}

static void excludes(pthread_rwlock_t *lock) {
    value = 0;
    pthread_t threads[5];
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? write_often : read_often, lock) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(value == 200 && readers == 0 && most_readers >= 1);
}

// --- two readers are in at the same time: each waits for the other inside

static pthread_barrier_t both_in;

static void *read_together(void *lock) {
    CHECK(pthread_rwlock_rdlock(lock) == 0);
    pthread_barrier_wait(&both_in);
    CHECK(pthread_rwlock_unlock(lock) == 0);
    return NULL;
}

static void together(void) {
    pthread_t thread;
    CHECK(pthread_barrier_init(&both_in, NULL, 2) == 0);
    CHECK(pthread_create(&thread, NULL, read_together, &plain) == 0);
    read_together(&plain);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_barrier_destroy(&both_in) == 0);
}

// --- a writer that waits: a plain lock still lets its reader read again

static void *write_once(void *lock) {
    CHECK(pthread_rwlock_wrlock(lock) == 0);
    value = -1;
    CHECK(pthread_rwlock_unlock(lock) == 0);
    return NULL;
}

static void recursive_readers(void) {
    pthread_t writer;
    value = 0;
    CHECK(pthread_rwlock_rdlock(&plain) == 0);
    CHECK(pthread_create(&writer, NULL, write_once, &plain) == 0);
    for (int i = 0; i < 10; i++) {
        CHECK(pthread_rwlock_rdlock(&plain) == 0);
        CHECK(value == 0);
    }
    for (int i = 0; i < 11; i++)
        CHECK(pthread_rwlock_unlock(&plain) == 0);
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(value == -1);
}

// With writers first, a writer that gave up must not leave readers standing.
static void *give_up_writing(void *lock) {
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_timedwrlock(lock, &when) == ETIMEDOUT);
    return NULL;
}

static void *read_once(void *lock) {
    CHECK(pthread_rwlock_rdlock(lock) == 0);
    CHECK(pthread_rwlock_unlock(lock) == 0);
    return NULL;
}

static void writer_gives_up(void) {
    pthread_t writer, reader;
    CHECK(pthread_rwlock_rdlock(&writers_first) == 0);
    CHECK(pthread_create(&writer, NULL, give_up_writing, &writers_first) == 0);
    CHECK(pthread_create(&reader, NULL, read_once, &writers_first) == 0);
    CHECK(pthread_join(reader, NULL) == 0); // while this thread still reads
    CHECK(pthread_join(writer, NULL) == 0);
    CHECK(pthread_rwlock_unlock(&writers_first) == 0);
}

static void attributes(void) {
    pthread_rwlockattr_t attributes;
    pthread_rwlock_t lock;
    int kind;
    CHECK(pthread_rwlockattr_init(&attributes) == 0);
    CHECK(pthread_rwlockattr_setkind_np(&attributes, 77) == EINVAL);
    CHECK(pthread_rwlockattr_setkind_np(&attributes,
                                        PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP) == 0);
    CHECK(pthread_rwlockattr_getkind_np(&attributes, &kind) == 0);
    CHECK(kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    CHECK(pthread_rwlock_init(&lock, &attributes) == 0);
    CHECK(pthread_rwlockattr_destroy(&attributes) == 0);
    excludes(&lock);
    CHECK(pthread_rwlock_destroy(&lock) == 0);
}

int main(void) {
    refusals();
    excludes(&plain);
    excludes(&writers_first);
    together();
    recursive_readers();
    writer_gives_up();
    attributes();
    CHECK(pthread_rwlock_destroy(&plain) == 0);
    return 0;
}
