// SPDX-License-Identifier: Apache-2.0
// All threads are given the address of the loop's variable, which goes on changing.
// EXPECT: data-race i A B
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sum;

static void *work(void *number) {
    atomic_fetch_add(&sum, *(int *)number); // A
    return number;
}

int main(void) {
    pthread_t threads[2];
    int i;
    for (i = 0; i < 2; i++) // B
        pthread_create(&threads[i], NULL, work, &i);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
