// SPDX-License-Identifier: Apache-2.0
// pbzip2: main takes the queue's mutex away when the work is done, not when the worker is.
// EXPECT: data-race fifo A B
// EXPECT: failure SIGSEGV
// EXPECT: memory-error - B C
// MAY: data-race - B C, because the unlock and the free are not ordered either
// MAY: lock-misuse - B, because the mutex is gone or another one
// MAY: lock-misuse - C, because it is given back while it is held
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t *mut;
} fifo;
static atomic_int all_done;

static void *consumer(void *unused) {
    pthread_mutex_lock(fifo.mut);
    atomic_store(&all_done, 1);
    pthread_mutex_unlock(fifo.mut); // B
    return unused;
}

int main(void) {
    fifo.mut = malloc(sizeof *fifo.mut);
    pthread_mutex_init(fifo.mut, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, consumer, NULL);
    while (!atomic_load(&all_done))
        sched_yield();
    free(fifo.mut);  // C
    fifo.mut = NULL; // A
    pthread_join(thread, NULL);
    return 0;
}
