// SPDX-License-Identifier: Apache-2.0
// Waits with a time limit and looks again; without an answer it goes on with what it has.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int answer;

static void *reply(void *unused) {
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *ask(void *unused) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec = limit.tv_nsec / 2;
    pthread_mutex_lock(&lock);
    int late = 0;
    while (!answer && !late)
        late = pthread_cond_timedwait(&changed, &lock, &limit) == ETIMEDOUT;
    assert(answer == 42 || late);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(ask, reply);
    return 0;
}
