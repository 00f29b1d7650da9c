// SPDX-License-Identifier: Apache-2.0
// Writers lock, a reader that "only looks" does not; what it saw decides the exit code.
// EXPECT: data-race total A B
// EXPECT: failure exit:1
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, seen;

static void *write_total(void *unused) {
    pthread_mutex_lock(&lock);
    total = 5;  // A
    total = 10; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    seen = total; // B
    return unused;
}

int main(void) {
    TOGETHER(write_total, look);
    return seen == 5;
}
