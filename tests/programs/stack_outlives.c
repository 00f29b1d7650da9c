// SPDX-License-Identifier: Apache-2.0
// A thread writes to a local variable of a function that has returned; another has its place now.
// EXPECT: data-race results A B
// EXPECT: failure SIGABRT
#include <assert.h>
#include <pthread.h>

static void *work(void *slot) {
    *(int *)slot = 1; // A
    return slot;
}

static pthread_t start(void) {
    int slots[64] = {0};
    pthread_t thread;
    pthread_create(&thread, NULL, work, &slots[32]);
    return thread;
}

static void finish(pthread_t thread) {
    int results[64];
    for (int i = 0; i < 64; i++)
        results[i] = 7; // B
    pthread_join(thread, NULL);
    for (int i = 0; i < 64; i++)
        assert(results[i] == 7);
}

int main(void) {
    finish(start());
    return 0;
}
