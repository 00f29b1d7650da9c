// SPDX-License-Identifier: Apache-2.0
// Both sides take a lock, but not the same one.
// EXPECT: data-race counter A B
#include "together.h"

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *under_one(void *unused) {
    pthread_mutex_lock(&one);
    counter++; // A
    pthread_mutex_unlock(&one);
    return unused;
}

static void *under_other(void *unused) {
    pthread_mutex_lock(&other);
    counter++; // B
    pthread_mutex_unlock(&other);
    return unused;
}

int main(void) {
    TOGETHER(under_one, under_other);
    return 0;
}
