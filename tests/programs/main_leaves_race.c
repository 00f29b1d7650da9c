// SPDX-License-Identifier: Apache-2.0
// main writes its last words to what the thread it does not wait for still works on.
// EXPECT: data-race state A B
#include <pthread.h>

static int state;

static void *work(void *unused) {
    state = 1; // A
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    state = 2; // B
    return 0;
}
