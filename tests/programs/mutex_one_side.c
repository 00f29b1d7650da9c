// SPDX-License-Identifier: Apache-2.0
// One side takes the lock, the other does not.
// EXPECT: data-race counter A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    counter++; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *careless(void *unused) {
    counter++; // B
    return unused;
}

int main(void) {
    TOGETHER(careful, careless);
    return 0;
}
