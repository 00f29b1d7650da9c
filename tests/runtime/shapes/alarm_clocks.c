// SPDX-License-Identifier: Apache-2.0
// Fifty threads sleep for different times, in different ways; nobody wakes before its time.
#include "team.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t never;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct timespec in(clockid_t clock, long nanoseconds) {
    struct timespec when;
    clock_gettime(clock, &when);
    when.tv_nsec += nanoseconds;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static void *sleeps(void *number) {
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    long length = (1 + number_of(number) * 37 % 50) * 100000, until = now() + length;
    struct timespec when;
    switch (number_of(number) % 5) {
    case 0:
        CHECK(nanosleep(&(struct timespec){0, length}, NULL) == 0);
        break;
    case 1:
        when = in(CLOCK_REALTIME, length);
        pthread_mutex_lock(&lock);
        while (pthread_cond_timedwait(&condition, &lock, &when) != ETIMEDOUT)
            ;
        pthread_mutex_unlock(&lock);
        break;
    case 2:
        when = in(CLOCK_REALTIME, length);
        CHECK(sem_timedwait(&never, &when) == -1 && errno == ETIMEDOUT);
        break;
    case 3:
        when = in(CLOCK_MONOTONIC, length);
        CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == 0);
        break;
    case 4:
        CHECK(ppoll(NULL, 0, &(struct timespec){0, length}, NULL) == 0);
        break;
    }
    CHECK(now() >= until);
    return NULL;
}

int main(void) {
    sem_init(&never, 0, 0);
    run_team(50, sleeps);
    return 0;
}
