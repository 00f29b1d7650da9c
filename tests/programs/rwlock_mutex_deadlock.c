// SPDX-License-Identifier: Apache-2.0
// A reader wants the mutex, the holder of the mutex wants to write.
// EXPECT: deadlock book,desk A B C D
#include "together.h"

static pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused) {
    pthread_rwlock_rdlock(&book); // A
    pthread_mutex_lock(&desk);    // B
    pthread_mutex_unlock(&desk);
    pthread_rwlock_unlock(&book);
    return unused;
}

static void *writer(void *unused) {
    pthread_mutex_lock(&desk);    // C
    pthread_rwlock_wrlock(&book); // D
    pthread_rwlock_unlock(&book);
    pthread_mutex_unlock(&desk);
    return unused;
}

int main(void) {
    TOGETHER(reader, writer);
    return 0;
}
