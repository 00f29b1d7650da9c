// SPDX-License-Identifier: Apache-2.0
// An error-checking mutex says that it is taken already, and the program listens.
// EXPECT: nothing
#define _GNU_SOURCE
#include "together.h"
#include <assert.h>
#include <errno.h>

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int counter;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    if (pthread_mutex_lock(&lock) == EDEADLK)
        counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(add, add);
    assert(counter == 2);
    return 0;
}
