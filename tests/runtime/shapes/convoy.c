// SPDX-License-Identifier: Apache-2.0
// Two hundred threads queue up for one lock that main holds, and go through it one by one.
#include "team.h"

#define THREADS 200
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, through, waiting;

static void *queues(void *number) {
    __atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&lock);
    CHECK(inside++ == 0);
    through++;
    inside--;
    pthread_mutex_unlock(&lock);
    return number;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_mutex_lock(&lock);
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, queues, (void *)i) == 0);
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < THREADS)
        sched_yield();
    CHECK(through == 0);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(through == THREADS);
    return 0;
}
