// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders; with an argument, a third lock around both makes it impossible.
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER,
                       b = PTHREAD_MUTEX_INITIALIZER;
static int gated;

static void both(pthread_mutex_t *first, pthread_mutex_t *second) {
    if (gated)
        pthread_mutex_lock(&gate);
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    if (gated)
        pthread_mutex_unlock(&gate);
}

static void *forward(void *unused) {
    both(&a, &b);
    return unused;
}

static void *backward(void *unused) {
    both(&b, &a);
    return unused;
}

int main(int count, char **arguments) {
    (void)arguments;
    gated = count > 1;
    pthread_t one, two;
    pthread_create(&one, NULL, forward, NULL);
    pthread_create(&two, NULL, backward, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
