// SPDX-License-Identifier: Apache-2.0
// One condition variable serves one mutex after the other, and one mutex serves three conditions.
#include "team.h"

static pthread_mutex_t mutexes[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turns[3] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                  PTHREAD_COND_INITIALIZER};
static int flag, turn, taken;

static void *waits_with(void *mutex) {
    pthread_mutex_lock(mutex);
    while (!flag)
        CHECK(pthread_cond_wait(&condition, mutex) == 0);
    flag = 0;
    pthread_mutex_unlock(mutex);
    return NULL;
}

static void one_after_the_other(void) {
    for (int i = 0; i < 9; i++) {
        pthread_t thread;
        pthread_mutex_t *mutex = &mutexes[i % 3];
        CHECK(pthread_create(&thread, NULL, waits_with, mutex) == 0);
        pthread_mutex_lock(mutex);
        flag = 1;
        CHECK(pthread_cond_signal(&condition) == 0);
        pthread_mutex_unlock(mutex);
        CHECK(pthread_join(thread, NULL) == 0);
    }
}

static void *takes_turns(void *number) {
    int me = (int)number_of(number);
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&turn_lock);
        while (turn != me)
            pthread_cond_wait(&turns[me], &turn_lock);
        CHECK(taken++ % 3 == me);
        turn = (me + 1) % 3;
        pthread_cond_signal(&turns[turn]);
        pthread_mutex_unlock(&turn_lock);
    }
    return NULL;
}

int main(void) {
    one_after_the_other();
    run_team(3, takes_turns);
    CHECK(taken == 30);
    return 0;
}
