// SPDX-License-Identifier: Apache-2.0
// MySQL 2011: file and position of the relay log are rotated one after the other, each under the
// lock: who asks in between gets the new file with the old position.
// EXPECT: failure exit:1
// MAY: atomicity file, because file and position belong together
// MAY: atomicity position, for the same reason
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = 1, position = 900, error;

static void *rotate(void *unused) {
    pthread_mutex_lock(&lock);
    file = 2;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    position = 4;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *show_status(void *unused) {
    pthread_mutex_lock(&lock);
    error = file == 2 && position > 100;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(rotate, show_status);
    return error;
}
