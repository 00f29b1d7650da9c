// SPDX-License-Identifier: Apache-2.0
// A storm of signals on threads that wait: every wait ends when it should, and never for a signal.
#include "team.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int ends[2], released, left = 4;
static volatile sig_atomic_t handled;

static void on_signal(int number) {
    (void)number;
    handled = 1;
}

static void *waits(void *number) {
    char byte;
    switch (number_of(number)) {
    case 0:
        pthread_mutex_lock(&lock);
        while (!released)
            CHECK(pthread_cond_wait(&condition, &lock) == 0);
        pthread_mutex_unlock(&lock);
        break;
    case 1:
        while (sem_wait(&semaphore) != 0)
            CHECK(errno == EINTR);
        break;
    case 2:
        CHECK(read(ends[0], &byte, 1) == 1); // restarted
        break;
    case 3:
        CHECK(pthread_barrier_wait(&barrier) >= -1);
        break;
    }
    __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t threads[4];
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && pipe(ends) == 0);
    sem_init(&semaphore, 0, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, waits, (void *)i) == 0);
    for (int i = 0; i < 60; i++) {
        CHECK(pthread_kill(threads[i % 4], SIGUSR1) == 0);
        CHECK(__atomic_load_n(&left, __ATOMIC_SEQ_CST) == 4);
        sched_yield();
    }
    pthread_mutex_lock(&lock);
    released = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
    CHECK(sem_post(&semaphore) == 0 && write(ends[1], "x", 1) == 1);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(handled && left == 0);
    return 0;
}
