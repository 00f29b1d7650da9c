// SPDX-License-Identifier: Apache-2.0
// Touches every kind of memory: its own, the heap, mappings, stacks, thread-local storage, and what
// the system gave it. Behaves the same wherever all that lies.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static __thread long own[3];
static char *large;

static int deep(int depth) {
    volatile int local[8] = {depth};
    return depth ? deep(depth - 1) + local[0] : local[0];
}

static void *work(void *heap) {
    int *numbers = heap;
    for (int i = 0; i < 4; i++) {
        own[i % 3] += i;
        large[i << 16]++;
        pthread_mutex_lock(&lock);
        counter += numbers[i] + deep(i);
        pthread_mutex_unlock(&lock);
        int *mine = malloc(sizeof *mine);
        *mine = i;
        numbers[i] += *mine;
        free(mine);
    }
    return (void *)own[0];
}

int main(int count, char **arguments, char **environment) {
    pthread_mutex_t *other = malloc(sizeof *other);
    pthread_t threads[3];
    int *numbers = calloc(4, sizeof *numbers);
    large = calloc(1, 1 << 20);
    pthread_mutex_init(other, NULL);
    size_t words = strlen(arguments[count - 1]);
    for (char **at = environment; *at; at++)
        words += **at != 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++)
            pthread_create(&threads[i], NULL, work, numbers);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        pthread_mutex_lock(other);
        pthread_mutex_unlock(other);
    }
    printf("%d\n", words > 0 && counter > 0);
}
