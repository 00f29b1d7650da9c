// SPDX-License-Identifier: Apache-2.0
// As many threads as asked for, two at a time, which race; and as many locks.
#include <pthread.h>
#include <stdlib.h>

static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

static void *take_all(void *locks) {
    size_t count = *(size_t *)locks;
    pthread_mutex_t *lock = (pthread_mutex_t *)((size_t *)locks + 1);
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&lock[i]);
        pthread_mutex_unlock(&lock[i]);
    }
    return add(NULL);
}

static void both(void *(*function)(void *), void *argument) {
    pthread_t one, other;
    pthread_create(&one, NULL, function, argument);
    pthread_create(&other, NULL, function, argument);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

int main(int count, char **arguments) {
    size_t threads = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    size_t locks = count > 2 ? strtoul(arguments[2], NULL, 10) : 0;
    size_t *all = calloc(1, sizeof *all + locks * sizeof(pthread_mutex_t));
    *all = locks;
    for (size_t i = 0; i < threads; i += 2)
        both(add, NULL);
    if (locks)
        both(take_all, all);
    free(all);
    return 0;
}
