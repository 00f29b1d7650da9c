// SPDX-License-Identifier: Apache-2.0
// Threads work on locals of a function that waits for them before it returns.
// EXPECT: nothing
#include <assert.h>
#include <pthread.h>

static void *work(void *slot) {
    *(int *)slot += 1;
    return NULL;
}

static int both(void) {
    int slots[2] = {1, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &slots[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return slots[0] + slots[1];
}

int main(void) {
    assert(both() == 5);
    assert(both() == 5);
    return 0;
}
