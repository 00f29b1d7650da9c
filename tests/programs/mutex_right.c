// SPDX-License-Identifier: Apache-2.0
// Two threads add to a counter under a lock.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    assert(counter == 4);
    return 0;
}
