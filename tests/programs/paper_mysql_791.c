// SPDX-License-Identifier: Apache-2.0
// MySQL 791: the log is closed and opened anew in one critical section, but whether it is open is
// looked at without the lock: what comes in between is not logged.
// EXPECT: data-race is_open A B
// EXPECT: failure exit:1
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_open = 1, logged;

static void *rotate(void *unused) {
    pthread_mutex_lock(&lock);
    is_open = 0; // A
    is_open = 1; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *insert(void *unused) {
    if (is_open) { // B
        pthread_mutex_lock(&lock);
        logged++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(rotate, insert);
    return logged != 1;
}
