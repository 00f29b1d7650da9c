// SPDX-License-Identifier: Apache-2.0
// The holder of a robust mutex ends without giving it back; the next one makes it usable again.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <errno.h>

static pthread_mutex_t lock;
static int counter;

static void *die_with_it(void *unused) {
    if (pthread_mutex_lock(&lock) == EOWNERDEAD)
        pthread_mutex_consistent(&lock);
    counter++;
    return unused;
}

int main(void) {
    pthread_mutexattr_t robust;
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &robust);
    TOGETHER(die_with_it, die_with_it);
    assert(pthread_mutex_lock(&lock) == EOWNERDEAD);
    assert(counter == 2);
    pthread_mutex_consistent(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}
