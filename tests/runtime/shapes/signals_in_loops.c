// SPDX-License-Identifier: Apache-2.0
// Threads send signals to each other in loops, while each computes and locks: none is lost that was
// waited for, and each is handled by the thread it was sent to.
#include "team.h"

#include <semaphore.h>
#include <signal.h>

#define THREADS 4
#define ROUNDS 25
static pthread_t threads[THREADS];
static pthread_barrier_t all_there;
static sem_t handled[THREADS];
static _Thread_local long me = -1;
static volatile int counts[THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int locked;

static void on_signal(int number) {
    (void)number;
    counts[me]++;
    sem_post(&handled[me]);
}

static void *sends(void *number) {
    me = number_of(number);
    long next = (me + 1) % THREADS;
    pthread_barrier_wait(&all_there);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_kill(threads[next], SIGUSR1) == 0);
        pthread_mutex_lock(&lock);
        locked++;
        pthread_mutex_unlock(&lock);
        while (sem_wait(&handled[next]) != 0)
            ;
    }
    pthread_barrier_wait(&all_there);
    CHECK(counts[me] == ROUNDS);
    return NULL;
}

int main(void) {
    struct sigaction action = {.sa_handler = on_signal};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        sem_init(&handled[i], 0, 0);
    pthread_mutex_lock(&lock); // nobody sends before all handles are there
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, sends, (void *)i) == 0);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(locked == THREADS * ROUNDS);
    return 0;
}
