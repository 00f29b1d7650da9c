// SPDX-License-Identifier: Apache-2.0
// Givers and takers wait on one condition, and one signal wakes one of them: perhaps the wrong one.
// EXPECT: lost-wakeup|deadlock changed A
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void become(int wanted) {
    pthread_mutex_lock(&lock);
    while (full == wanted)
        pthread_cond_wait(&changed, &lock); // A
    full = wanted;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *give(void *unused) {
    become(1);
    return unused;
}

static void *take(void *unused) {
    become(0);
    return unused;
}

int main(void) {
    TOGETHER(take, take, give, give);
    return 0;
}
