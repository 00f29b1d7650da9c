// SPDX-License-Identifier: Apache-2.0
// Apache 45605: after waiting for an idle worker the dispatcher does not look again; a wake-up that
// belonged to a worker it has used already makes it take one that is not there.
// EXPECT: data-race idlers A B
// EXPECT: failure SIGABRT
// MAY: atomicity idlers, because looking and taking belong together
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int idlers;

static void *worker(void *unused) {
    if (__atomic_fetch_add(&idlers, 1, __ATOMIC_SEQ_CST) == 0) { // A
        pthread_mutex_lock(&lock);
        pthread_cond_signal(&idle);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *dispatcher(void *unused) {
    for (int i = 0; i < 2; i++) {
        if (idlers == 0) { // B
            pthread_mutex_lock(&lock);
            if (idlers == 0) // B
                pthread_cond_wait(&idle, &lock);
            pthread_mutex_unlock(&lock);
        }
        assert(__atomic_fetch_sub(&idlers, 1, __ATOMIC_SEQ_CST) > 0);
    }
    return unused;
}

int main(void) {
    TOGETHER(dispatcher, worker, worker);
    return 0;
}
