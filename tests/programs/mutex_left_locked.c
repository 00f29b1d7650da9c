// SPDX-License-Identifier: Apache-2.0
// An early return forgets to unlock: who comes second waits for ever.
// EXPECT: deadlock lock A
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first = 1;

static void *enter(void *unused) {
    pthread_mutex_lock(&lock); // A
    if (first) {
        first = 0;
        return unused;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(enter, enter);
    return 0;
}
