// SPDX-License-Identifier: Apache-2.0
// A lock with a time limit: what it guards is touched only when it was got.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 1;
    if (pthread_mutex_timedlock(&lock, &limit) == 0) {
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    assert(counter <= 2);
    return 0;
}
