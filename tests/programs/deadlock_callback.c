// SPDX-License-Identifier: Apache-2.0
// A listener is called with the lock held, and takes another lock that its owner holds elsewhere.
// EXPECT: deadlock list,owner A B C D
#include "together.h"

static pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER, owner = PTHREAD_MUTEX_INITIALIZER;
static int listening = 1;

static void listener(void) {
    pthread_mutex_lock(&owner); // B
    pthread_mutex_unlock(&owner);
}

static void *notify(void *unused) {
    pthread_mutex_lock(&list); // A
    if (listening)
        listener();
    pthread_mutex_unlock(&list);
    return unused;
}

static void *unregister(void *unused) {
    pthread_mutex_lock(&owner); // C
    pthread_mutex_lock(&list);  // D
    listening = 0;
    pthread_mutex_unlock(&list);
    pthread_mutex_unlock(&owner);
    return unused;
}

int main(void) {
    TOGETHER(notify, unregister);
    return 0;
}
