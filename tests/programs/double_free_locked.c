// SPDX-License-Identifier: Apache-2.0
// Looking and freeing are two critical sections: no data race, but two frees.
// EXPECT: memory-error - A A
// MAY: failure SIGABRT, because the allocator notices
// MAY: atomicity block, because looking and clearing belong together
#include "together.h"
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *block;

static void *clean_up(void *unused) {
    pthread_mutex_lock(&lock);
    void *found = block;
    pthread_mutex_unlock(&lock);
    if (!found)
        return unused;
    pthread_mutex_lock(&lock);
    block = NULL;
    free(found); // A
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    block = malloc(64);
    TOGETHER(clean_up, clean_up);
    return 0;
}
