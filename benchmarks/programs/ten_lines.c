// SPDX-License-Identifier: Apache-2.0
// A ten-line program: so many threads add one to a counter without a lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 2;
    pthread_t handles[100];
    for (int i = 0; i < threads; i++)
        pthread_create(&handles[i], NULL, add, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    printf("%d\n", counter);
    return 0;
}
