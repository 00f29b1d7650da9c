// SPDX-License-Identifier: Apache-2.0
// The number of readers is raised without the lock that guards it elsewhere.
// EXPECT: data-race readers A B
// EXPECT: data-race readers A A
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int readers;

static void leave(void) {
    pthread_mutex_lock(&lock);
    readers--; // B
    pthread_mutex_unlock(&lock);
}

static void *look(void *unused) {
    readers++; // A
    leave();
    return unused;
}

int main(void) {
    TOGETHER(look, look);
    return 0;
}
