// SPDX-License-Identifier: Apache-2.0
// Spin locks exclude, and say when they are taken.
#include "check.h"

#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int guarded;

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        if (i % 2 || pthread_spin_trylock(&lock) == EBUSY)
            CHECK(pthread_spin_lock(&lock) == 0);
        guarded++;
        CHECK(pthread_spin_unlock(&lock) == 0);
    }
    return NULL;
}

static void *try_it(void *unused) {
    (void)unused;
    CHECK(pthread_spin_trylock(&lock) == EBUSY);
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    CHECK(pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE) == 0);
    CHECK(pthread_spin_trylock(&lock) == 0);
    CHECK(pthread_create(&threads[0], NULL, try_it, NULL) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(pthread_spin_trylock(&lock) == EBUSY);
    CHECK(pthread_spin_unlock(&lock) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(guarded == 400);
    CHECK(pthread_spin_destroy(&lock) == 0);
    return 0;
}
