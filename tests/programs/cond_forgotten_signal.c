// SPDX-License-Identifier: Apache-2.0
// One of two ways to change the state forgets to signal.
// EXPECT: deadlock|lost-wakeup changed A
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;

static void *forget(void *unused) {
    pthread_mutex_lock(&lock);
    state = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *wait_for_it(void *unused) {
    pthread_mutex_lock(&lock);
    while (state == 0)
        pthread_cond_wait(&changed, &lock); // A
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(wait_for_it, forget);
    return 0;
}
