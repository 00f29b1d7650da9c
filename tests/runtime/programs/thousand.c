// SPDX-License-Identifier: Apache-2.0
// A thousand threads at once, all of them blocked and then all let go.
#include "check.h"

#include <pthread.h>

#define COUNT 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, go = PTHREAD_COND_INITIALIZER;
static int here, released;
static _Thread_local long own;

static void *waits(void *number) {
    own = (long)number;
    pthread_mutex_lock(&mutex);
    if (++here == COUNT)
        pthread_cond_signal(&arrived);
    while (!released)
        pthread_cond_wait(&go, &mutex);
    pthread_mutex_unlock(&mutex);
    CHECK(own == (long)number);
    return &own;
}

int main(void) {
    static pthread_t threads[COUNT];
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 65536) == 0);
    for (long i = 0; i < COUNT; i++)
        CHECK(pthread_create(&threads[i], &attributes, waits, (void *)i) == 0);
    pthread_mutex_lock(&mutex);
    while (here < COUNT)
        pthread_cond_wait(&arrived, &mutex);
    released = 1;
    pthread_cond_broadcast(&go);
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < COUNT; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
