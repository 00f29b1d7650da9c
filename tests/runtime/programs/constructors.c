// SPDX-License-Identifier: Apache-2.0
// Threads that a constructor makes before main, and that a destructor joins after it.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_t early, lasting;
static sem_t go, after;
static int early_ran, lasting_ran;
static pthread_key_t key;

static void *soon(void *unused) {
    (void)unused;
    early_ran = 1;
    return &early;
}

static void *late(void *unused) {
    (void)unused;
    sem_wait(&go);
    lasting_ran = 1;
    return &lasting;
}

__attribute__((constructor)) static void before_main(void) {
    void *result;
    sem_init(&go, 0, 0);
    sem_init(&after, 0, 0);
    CHECK(pthread_key_create(&key, NULL) == 0);
    CHECK(pthread_setspecific(key, &key) == 0);
    CHECK(pthread_create(&early, NULL, soon, NULL) == 0);
    CHECK(pthread_create(&lasting, NULL, late, NULL) == 0);
    CHECK(pthread_join(early, &result) == 0 && result == &early && early_ran);
}

__attribute__((destructor)) static void after_main(void) {
    void *result;
    sem_post(&go);
    if (pthread_join(lasting, &result) != 0 || result != &lasting || !lasting_ran)
        _exit(1);
}

int main(void) {
    CHECK(early_ran && !lasting_ran);
    CHECK(pthread_getspecific(key) == &key);
    return 0;
}
