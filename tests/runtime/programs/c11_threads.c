// SPDX-License-Identifier: Apache-2.0
// C11 threads: their own results, over everything that <threads.h> declares.
#include "check.h"
#include "moment.h"

#include <threads.h>

static mtx_t lock, recursive;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static tss_t key;
static int count, runs, turn, destroyed;

// --- threads

static int negative(void *argument) {
    return -*(int *)argument;
}

static int leave_early(void *argument) {
    (void)argument;
    thrd_exit(77);
}

static int detached(void *argument) {
    mtx_lock(&lock);
    *(int *)argument = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

static void lives(void) {
    thrd_t thread;
    int result, number = 5, done = 0;
    CHECK(thrd_create(&thread, negative, &number) == thrd_success);
    CHECK(!thrd_equal(thread, thrd_current()) && thrd_equal(thrd_current(), thrd_current()));
    CHECK(thrd_join(thread, &result) == thrd_success && result == -5);
    CHECK(thrd_create(&thread, leave_early, NULL) == thrd_success);
    CHECK(thrd_join(thread, &result) == thrd_success && result == 77);
    CHECK(mtx_lock(&lock) == thrd_success);
    CHECK(thrd_create(&thread, detached, &done) == thrd_success);
    CHECK(thrd_detach(thread) == thrd_success);
    while (!done)
        CHECK(cnd_wait(&changed, &lock) == thrd_success);
    CHECK(mtx_unlock(&lock) == thrd_success);
    struct timespec short_time = {0, 1000}, impossible = {0, -1};
    CHECK(thrd_sleep(&short_time, NULL) == 0);
    CHECK(thrd_sleep(&impossible, NULL) < -1);
    thrd_yield();
}

// --- mutexes

static int from_elsewhere(void *argument) {
    (void)argument;
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(mtx_trylock(&lock) == thrd_busy);
    CHECK(mtx_trylock(&recursive) == thrd_busy);
    CHECK(mtx_unlock(&recursive) == thrd_error);
    CHECK(mtx_timedlock(&lock, &when) == thrd_timedout);
    CHECK(mtx_timedlock(&lock, &no_time[0]) == thrd_error);
    return 0;
}

static int add(void *argument) {
    (void)argument;
    for (int i = 0; i < 50; i++) {
        CHECK(mtx_lock(&lock) == thrd_success);
        count++;
        CHECK(mtx_unlock(&lock) == thrd_success);
    }
    return 0;
}

static void mutexes(void) {
    thrd_t threads[3];
    CHECK(mtx_lock(&lock) == thrd_success);
    CHECK(mtx_trylock(&lock) == thrd_busy);
    CHECK(mtx_lock(&recursive) == thrd_success);
    CHECK(mtx_trylock(&recursive) == thrd_success);
    CHECK(thrd_create(&threads[0], from_elsewhere, NULL) == thrd_success);
    CHECK(thrd_join(threads[0], NULL) == thrd_success);
    CHECK(mtx_unlock(&recursive) == thrd_success && mtx_unlock(&recursive) == thrd_success);
    CHECK(mtx_unlock(&lock) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], add, NULL) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    CHECK(count == 150);
}

// --- conditions: threads take turns

static int take_turns(void *argument) {
    int mine = *(int *)argument;
    for (int i = 0; i < 10; i++) {
        CHECK(mtx_lock(&lock) == thrd_success);
        while (turn % 3 != mine)
            CHECK(cnd_wait(&changed, &lock) == thrd_success);
        turn++;
        CHECK(cnd_broadcast(&changed) == thrd_success);
        CHECK(mtx_unlock(&lock) == thrd_success);
    }
    return 0;
}

static void conditions(void) {
    thrd_t threads[3];
    int numbers[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], take_turns, &numbers[i]) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    CHECK(turn == 30);
    CHECK(mtx_lock(&lock) == thrd_success);
    struct timespec when = soon(CLOCK_REALTIME);
    int result;
    while ((result = cnd_timedwait(&changed, &lock, &when)) == thrd_success)
        ;
    CHECK(result == thrd_timedout);
    CHECK(cnd_timedwait(&changed, &lock, &no_time[1]) == thrd_error);
    CHECK(mtx_unlock(&lock) == thrd_success);
}

// --- once and thread-specific storage

static void run(void) {
    runs++;
}

static void destroy(void *value) {
    __atomic_fetch_add(&destroyed, *(int *)value, __ATOMIC_SEQ_CST);
}

static int use_both(void *argument) {
    call_once(&once, run);
    CHECK(runs == 1);
    CHECK(tss_get(key) == NULL);
    CHECK(tss_set(key, argument) == thrd_success);
    thrd_yield();
    CHECK(tss_get(key) == argument);
    return 0;
}

static void storage(void) {
    thrd_t threads[3];
    int numbers[3] = {1, 10, 100};
    CHECK(tss_create(&key, destroy) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_create(&threads[i], use_both, &numbers[i]) == thrd_success);
    for (int i = 0; i < 3; i++)
        CHECK(thrd_join(threads[i], NULL) == thrd_success);
    CHECK(destroyed == 111 && tss_get(key) == NULL);
    tss_delete(key);
    CHECK(tss_set(key, &key) == thrd_error);
}

int main(void) {
    CHECK(mtx_init(&lock, mtx_timed) == thrd_success);
    CHECK(mtx_init(&recursive, mtx_recursive | mtx_timed) == thrd_success);
    CHECK(cnd_init(&changed) == thrd_success);
    lives();
    mutexes();
    conditions();
    storage();
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    mtx_destroy(&recursive);
    return 0;
}
