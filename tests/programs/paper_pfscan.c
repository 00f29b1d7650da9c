// SPDX-License-Identifier: Apache-2.0
// pfscan: workers count themselves out without a lock; when a count is lost, main spins for ever.
// EXPECT: data-race active A A
// EXPECT: data-race active A B
// EXPECT: hang - B
#include <pthread.h>
#include <sched.h>

static int active = 2;

static void *worker(void *unused) {
    active--; // A
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    while (active > 0) // B
        sched_yield(); // B
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
