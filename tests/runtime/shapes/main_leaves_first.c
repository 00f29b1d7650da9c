// SPDX-License-Identifier: Apache-2.0
// main ends by pthread_exit while detached threads go on; the last of them ends the process with 0.
#include "death.h"

#include <pthread.h>
#include <semaphore.h>

#define THREADS 5
static int done;
static sem_t go;

static void all_done(void) {
    _exit(__atomic_load_n(&done, __ATOMIC_SEQ_CST) == THREADS ? 0 : 70);
}

static void *works(void *unused) {
    sem_wait(&go);
    __atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
    sem_post(&go);
    return unused;
}

static void leave(void) {
    atexit(all_done);
    sem_init(&go, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, works, NULL) == 0);
        CHECK(pthread_detach(thread) == 0);
    }
    sem_post(&go);
    pthread_exit(NULL);
}

int main(void) {
    CHECK(end_of(leave) == 0);
    leave();
}
