// SPDX-License-Identifier: Apache-2.0
// pthread keys: all of them, destructors and how often they run, deletion.
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_key_t keys[PTHREAD_KEYS_MAX], again, once;
static atomic_int runs, sum;

static void add(void *value) {
    sum += (int)(intptr_t)value;
}

static void set_again(void *value) {
    runs++;
    CHECK(pthread_getspecific(again) == NULL); // cleared before
    CHECK(pthread_setspecific(again, value) == 0);
}

static void *sets(void *value) {
    CHECK(pthread_getspecific(once) == NULL);
    CHECK(pthread_setspecific(once, value) == 0);
    CHECK(pthread_setspecific(again, value) == 0);
    sched_yield();
    CHECK(pthread_getspecific(once) == value);
    return NULL;
}

static void destructors(void) {
    pthread_t threads[4];
    CHECK(pthread_key_create(&once, add) == 0);
    CHECK(pthread_key_create(&again, set_again) == 0);
    CHECK(pthread_setspecific(once, &keys) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, sets, (void *)(intptr_t)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sum == 10);
    CHECK(runs == 4 * PTHREAD_DESTRUCTOR_ITERATIONS);
    CHECK(pthread_getspecific(once) == &keys);
    CHECK(pthread_key_delete(once) == 0);
    CHECK(pthread_key_delete(once) == EINVAL);
    CHECK(pthread_setspecific(once, &keys) == EINVAL);
    CHECK(pthread_key_create(&once, NULL) == 0);
    CHECK(pthread_getspecific(once) == NULL); // what a deleted key held is gone
    CHECK(pthread_key_delete(once) == 0 && pthread_key_delete(again) == 0);
}

static void *uses_all(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++)
        CHECK(pthread_getspecific(keys[i]) == NULL);
    for (int i = 0; i < 100; i++)
        CHECK(pthread_setspecific(keys[i], &keys[i]) == 0);
    sched_yield();
    for (int i = 0; i < 100; i++)
        CHECK(pthread_getspecific(keys[i]) == &keys[i]);
    return NULL;
}

static void *deleted_before_end(void *key) {
    CHECK(pthread_setspecific(*(pthread_key_t *)key, (void *)100) == 0);
    CHECK(pthread_key_delete(*(pthread_key_t *)key) == 0);
    return NULL;
}

static void all(void) {
    int count = 0;
    pthread_t thread;
    while (count < PTHREAD_KEYS_MAX && pthread_key_create(&keys[count], NULL) == 0)
        count++;
    CHECK(count >= _POSIX_THREAD_KEYS_MAX && count > 1000);
    CHECK(pthread_key_create(&once, NULL) == EAGAIN);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_create(&thread, NULL, uses_all, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    while (count)
        CHECK(pthread_key_delete(keys[--count]) == 0);
    sum = 0;
    CHECK(pthread_key_create(&once, add) == 0);
    CHECK(pthread_create(&thread, NULL, deleted_before_end, &once) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sum == 0); // no destructor any more
}

int main(void) {
    destructors();
    all();
    return 0;
}
