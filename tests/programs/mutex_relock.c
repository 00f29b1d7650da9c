// SPDX-License-Identifier: Apache-2.0
// A thread takes a plain mutex that it has already, when the other thread was there before it.
// EXPECT: deadlock lock A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int visitors;

static void reset(void) {
    pthread_mutex_lock(&lock); // B
    visitors = 0;
    pthread_mutex_unlock(&lock);
}

static void *visit(void *unused) {
    pthread_mutex_lock(&lock); // A
    if (++visitors == 2)
        reset();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(visit, visit);
    return 0;
}
