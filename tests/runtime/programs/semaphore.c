// SPDX-License-Identifier: Apache-2.0
// Semaphores: the value, its limits, waits that end and waits that give up, and names.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static int value_of(sem_t *semaphore) {
    int value;
    CHECK(sem_getvalue(semaphore, &value) == 0);
    return value;
}

#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static void alone(void) {
    sem_t semaphore;
    CHECK(FAILS(sem_init(&semaphore, 0, (unsigned)SEM_VALUE_MAX + 1), EINVAL));
    CHECK(sem_init(&semaphore, 0, 2) == 0);
    CHECK(sem_wait(&semaphore) == 0);
    CHECK(sem_trywait(&semaphore) == 0);
    CHECK(value_of(&semaphore) == 0);
    CHECK(FAILS(sem_trywait(&semaphore), EAGAIN));

    struct timespec when = soon(CLOCK_REALTIME), steady = soon(CLOCK_MONOTONIC);
    CHECK(FAILS(sem_timedwait(&semaphore, &when), ETIMEDOUT));
    CHECK(has_passed(CLOCK_REALTIME, &when));
    CHECK(FAILS(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &steady), ETIMEDOUT));
    CHECK(has_passed(CLOCK_MONOTONIC, &steady));
    CHECK(FAILS(sem_timedwait(&semaphore, &before_all), ETIMEDOUT));
    for (int i = 0; i < 2; i++)
        CHECK(FAILS(sem_timedwait(&semaphore, &no_time[i]), EINVAL));
    CHECK(FAILS(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &when), EINVAL));

    CHECK(sem_post(&semaphore) == 0);
    errno = 77;
    CHECK(sem_timedwait(&semaphore, &long_ago) == 0); // no need to wait
    CHECK(errno == 77);
    CHECK(sem_destroy(&semaphore) == 0);

    CHECK(sem_init(&semaphore, 0, SEM_VALUE_MAX) == 0);
    CHECK(FAILS(sem_post(&semaphore), EOVERFLOW));
    CHECK(value_of(&semaphore) == SEM_VALUE_MAX);
    CHECK(sem_destroy(&semaphore) == 0);
}

// --- a bounded buffer: two producers, three consumers, four places

static sem_t room, full, lock;
static int buffer[4], in, out, sum;

static void *produce(void *unused) {
    (void)unused;
    for (int i = 1; i <= 60; i++) {
        CHECK(sem_wait(&room) == 0);
        CHECK(sem_wait(&lock) == 0);
        buffer[in++ % 4] = i;
        CHECK(sem_post(&lock) == 0);
        CHECK(sem_post(&full) == 0);
    }
    return NULL;
}

static void *consume(void *unused) {
    (void)unused;
    for (int i = 0; i < 40; i++) {
        struct timespec when = late(CLOCK_REALTIME);
        CHECK((i % 2 ? sem_wait(&full) : sem_timedwait(&full, &when)) == 0);
        CHECK(sem_wait(&lock) == 0);
        sum += buffer[out++ % 4];
        CHECK(in - out >= 0 && in - out <= 4);
        CHECK(sem_post(&lock) == 0);
        CHECK(sem_post(&room) == 0);
    }
    return NULL;
}

static void together(void) {
    pthread_t threads[5];
    CHECK(sem_init(&room, 0, 4) == 0 && sem_init(&full, 0, 0) == 0 && sem_init(&lock, 0, 1) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? produce : consume, NULL) == 0);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sum == 2 * 60 * 61 / 2);
    CHECK(value_of(&room) == 4 && value_of(&full) == 0 && value_of(&lock) == 1);
}

// --- one semaphore under a name, opened twice: the same object

static void *post_by_name(void *name) {
    sem_t *semaphore = sem_open(name, 0);
    CHECK(semaphore != SEM_FAILED);
    CHECK(sem_post(semaphore) == 0);
    CHECK(sem_close(semaphore) == 0);
    return NULL;
}

static void named(void) {
    char name[64];
    pthread_t thread;
    snprintf(name, sizeof name, "/eitherway-conformance-%d", (int)getpid());
    CHECK((errno = 0, sem_open(name, 0) == SEM_FAILED) && errno == ENOENT);
    sem_t *semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    CHECK(semaphore != SEM_FAILED);
    CHECK(value_of(semaphore) == 1);
    CHECK((errno = 0, sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED) && errno == EEXIST);
    CHECK(sem_wait(semaphore) == 0);
    CHECK(pthread_create(&thread, NULL, post_by_name, name) == 0);
    CHECK(sem_wait(semaphore) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sem_unlink(name) == 0);
    CHECK(sem_close(semaphore) == 0);
    CHECK(FAILS(sem_unlink(name), ENOENT));
}

int main(void) {
    alone();
    together();
    named();
    return 0;
}
