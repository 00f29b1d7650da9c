// SPDX-License-Identifier: Apache-2.0
// The flag is looked at without the lock: whoever sets it may come before the wait, and is not
// heard. The order of the locks decides that in every way to go on, and is nobody's fault.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *send(void *unused) {
    ready = 1;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *receive(void *unused) {
    if (!ready) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, send, NULL);
    pthread_create(&other, NULL, receive, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
