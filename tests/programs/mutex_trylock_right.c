// SPDX-License-Identifier: Apache-2.0
// Whoever gets the lock without waiting does the work; who does not get it leaves it alone.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *try_it(void *unused) {
    if (pthread_mutex_trylock(&lock) == 0) {
        done++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(try_it, try_it);
    assert(done >= 1);
    return 0;
}
