// SPDX-License-Identifier: Apache-2.0
// main returns what its thread has done so far, without waiting for it.
// EXPECT: failure exit:1
#include <pthread.h>
#include <stdatomic.h>

static atomic_int finished;

static void *work(void *unused) {
    atomic_store(&finished, 1);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    return !atomic_load(&finished);
}
