// SPDX-License-Identifier: Apache-2.0
// What a switch between two threads costs: COUNT. Prints nanoseconds of the processor for a yield
// that has nobody to yield to, for one of two threads that yield in turn, and for a hand-over with
// a condition variable.
#define _GNU_SOURCE
#include "real_time.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn, count;

static void *yield(void *unused) {
    for (int i = 0; i < count; i++)
        sched_yield();
    return unused;
}

static void *hand_over(void *argument) {
    int me = (int)(long)argument;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        while (turn != me)
            pthread_cond_wait(&changed, &lock);
        turn = 1 - me;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static double one_of(int threads, void *(*work)(void *)) {
    pthread_t made[2];
    double start = real_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
    return (real_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - start) / (count * threads);
}

// One processor for both, as one carrier is: otherwise the bare threads would not have to switch.
static void stay_on_one_processor(void) {
    cpu_set_t allowed, one;
    int first = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &allowed))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int arguments_count, char **arguments) {
    count = arguments_count > 1 ? atoi(arguments[1]) : 1000;
    stay_on_one_processor();
    printf("%f\n", one_of(1, yield));
    printf("%f\n", one_of(2, yield));
    printf("%f\n", one_of(2, hand_over));
    return 0;
}
