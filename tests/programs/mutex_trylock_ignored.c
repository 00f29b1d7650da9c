// SPDX-License-Identifier: Apache-2.0
// What trylock says is ignored: the counter is touched and the lock given back in any case.
// EXPECT: data-race counter A B
// EXPECT: lock-misuse lock C
// MAY: lock-misuse lock D, because the careful thread's lock was given back under it
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;                   // A
    pthread_mutex_unlock(&lock); // D
    return unused;
}

static void *eager(void *unused) {
    pthread_mutex_trylock(&lock);
    counter++;                   // B
    pthread_mutex_unlock(&lock); // C
    return unused;
}

int main(void) {
    TOGETHER(careful, eager);
    return 0;
}
