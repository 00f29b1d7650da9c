// SPDX-License-Identifier: Apache-2.0
// Cancellation: where it acts, where it waits, what runs, and what join tells. Handlers in plain C.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t ready, never, go;
static int handled, owner_checked;

static void count(void *by) {
    handled += *(int *)by;
}

static pthread_t start(void *(*function)(void *)) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    return thread;
}

static void expect_cancelled(pthread_t thread) {
    void *result = NULL;
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
}

static void *in_sem_wait(void *unused) {
    (void)unused;
    int one = 1, ten = 10;
    pthread_cleanup_push(count, &one);
    pthread_cleanup_push(count, &ten);
    sem_post(&ready);
    sem_wait(&never);
    CHECK(!"cancelled");
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void unlock(void *lock) {
    owner_checked = pthread_mutex_trylock(lock) == EBUSY; // it is ours again
    CHECK(pthread_mutex_unlock(lock) == 0);
}

static void *in_cond_wait(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, &mutex);
    sem_post(&ready);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_join(void *other) {
    sem_post(&ready);
    pthread_join(*(pthread_t *)other, NULL);
    return NULL;
}

static void *until_told(void *unused) {
    (void)unused;
    sem_wait(&go);
    return &go;
}

static void *disabled(void *unused) {
    (void)unused;
    int old;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    CHECK(old == PTHREAD_CANCEL_ENABLE);
    sem_post(&ready);
    sem_wait(&go);
    pthread_testcancel();
    handled = 5;
    CHECK(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old) == 0);
    CHECK(old == PTHREAD_CANCEL_DISABLE);
    handled = 6; // enabling is no cancellation point
    pthread_testcancel();
    handled = 7;
    return NULL;
}

static volatile int spinning;

static void *anywhere(void *unused) {
    (void)unused;
    int old, one = 1;
    CHECK(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old) == 0);
    CHECK(old == PTHREAD_CANCEL_DEFERRED);
    pthread_cleanup_push(count, &one);
    sem_post(&ready);
    for (;;)
        spinning++;
    pthread_cleanup_pop(0);
    return NULL;
}

static void *cancels_itself(void *unused) {
    (void)unused;
    CHECK(pthread_cancel(pthread_self()) == 0);
    handled = 1;
    pthread_testcancel();
    handled = 2;
    return NULL;
}

static void *pops(void *unused) {
    (void)unused;
    int one = 1, ten = 10;
    pthread_cleanup_push(count, &one);
    pthread_cleanup_push(count, &ten);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *mutex_is_no_point(void *unused) {
    (void)unused;
    sem_post(&ready);
    pthread_mutex_lock(&mutex);
    handled = 3;
    pthread_mutex_unlock(&mutex);
    pthread_testcancel();
    return NULL;
}

static void errors(void) {
    CHECK(pthread_setcancelstate(77, NULL) == EINVAL);
    CHECK(pthread_setcanceltype(77, NULL) == EINVAL);
}

static void deferred(void) {
    pthread_t thread = start(in_sem_wait);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    expect_cancelled(thread);
    CHECK(handled == 11);
    thread = start(in_cond_wait);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    expect_cancelled(thread);
    CHECK(owner_checked);
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    handled = 0;
    thread = start(mutex_is_no_point);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    expect_cancelled(thread);
    CHECK(handled == 3);
}

static void joining(void) {
    pthread_t other = start(until_told), thread;
    void *result;
    CHECK(pthread_create(&thread, NULL, in_join, &other) == 0);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    expect_cancelled(thread);
    sem_post(&go);
    CHECK(pthread_join(other, &result) == 0); // still there to be joined
    CHECK(result == &go);
}

// --- a signal of a condition is not lost with one of those who wait

static int waiting, told;

static void let_go(void *unused) {
    (void)unused;
    pthread_mutex_unlock(&mutex);
}

static void *until_signalled(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(let_go, NULL);
    waiting++;
    sem_post(&ready);
    while (!told)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}

static void signal_kept(void) {
    pthread_t first = start(until_signalled), second = start(until_signalled);
    void *result;
    sem_wait(&ready);
    sem_wait(&ready);
    pthread_mutex_lock(&mutex); // so both wait
    CHECK(waiting == 2);
    told = 1;
    CHECK(pthread_cond_signal(&condition) == 0 && pthread_cancel(first) == 0);
    pthread_mutex_unlock(&mutex);
    CHECK(pthread_join(first, &result) == 0);
    if (result != PTHREAD_CANCELED)
        CHECK(pthread_cond_signal(&condition) == 0); // it was the first that had it
    CHECK(pthread_join(second, NULL) == 0);
}

int main(void) {
    CHECK(sem_init(&ready, 0, 0) == 0 && sem_init(&never, 0, 0) == 0 && sem_init(&go, 0, 0) == 0);
    errors();
    deferred();
    joining();
    signal_kept();
    pthread_t thread = start(disabled);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    sem_post(&go);
    expect_cancelled(thread);
    CHECK(handled == 6);
    handled = 0;
    thread = start(anywhere);
    sem_wait(&ready);
    CHECK(pthread_cancel(thread) == 0);
    expect_cancelled(thread);
#ifndef __EXCEPTIONS // landing pads know calls only, so the handler need not run
    CHECK(handled == 1);
#endif
    expect_cancelled(start(cancels_itself));
    CHECK(handled == 1);
    handled = 0;
    CHECK(pthread_join(start(pops), NULL) == 0);
    CHECK(handled == 10);
    return 0;
}
