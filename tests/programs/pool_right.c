// SPDX-License-Identifier: Apache-2.0
// Workers take jobs until the pool is closed; closing wakes everybody.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int jobs, done, closed;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!jobs && !closed)
            pthread_cond_wait(&changed, &lock);
        if (!jobs)
            break;
        jobs--;
        done++;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *serve(void *unused) {
    pthread_mutex_lock(&lock);
    jobs = 3;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    closed = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(work, serve, work);
    assert(done == 3);
    return 0;
}
