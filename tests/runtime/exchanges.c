// SPDX-License-Identifier: Apache-2.0
// Two threads exchange a word if it is what they last saw; tells how often that went well.
#include <pthread.h>
#include <stdio.h>

static unsigned word;
static int done[2];

static void *count_up(void *argument) {
    int *mine = argument;
    while (*mine < 20) {
        unsigned seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
        *mine += __atomic_compare_exchange_n(&word, &seen, seen + 1, 0, __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count_up, &done[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %u\n", done[0] + done[1], word);
    return 0;
}
