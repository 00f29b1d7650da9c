// SPDX-License-Identifier: Apache-2.0
// main ends its own thread with pthread_exit; the others go on to the end of the program.
// EXPECT: nothing
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int left = 2;

static void *work(void *unused) {
    if (atomic_fetch_sub(&left, 1) == 1)
        exit(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_detach(thread);
    }
    pthread_exit(NULL);
}
