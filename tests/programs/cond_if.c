// SPDX-License-Identifier: Apache-2.0
// Two takers wait with `if`: who is woken may find that the other has taken the item.
// EXPECT: failure SIGABRT
// MAY: atomicity items, because this is what is between the wake-up and the taking
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    if (items == 0)
        pthread_cond_wait(&changed, &lock);
    assert(items > 0);
    items--;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *give(void *unused) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    TOGETHER(take, take, give);
    return 0;
}
