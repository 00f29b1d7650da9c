// SPDX-License-Identifier: Apache-2.0
// Condition variables: who is woken, which clock counts, what is refused, and when it may go.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

// --- a signal for each waiter; a broadcast for all

static int tickets, waiting, passed;
static pthread_cond_t is_waiting = PTHREAD_COND_INITIALIZER;

static void *take_ticket(void *unused) {
    (void)unused;
    CHECK(pthread_mutex_lock(&lock) == 0);
    waiting++;
    CHECK(pthread_cond_signal(&is_waiting) == 0);
    while (!tickets)
        CHECK(pthread_cond_wait(&condition, &lock) == 0);
    tickets--;
    passed++;
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

static void wakes(int at_once) {
    pthread_t threads[4];
    waiting = passed = 0;
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, take_ticket, NULL) == 0);
    CHECK(pthread_mutex_lock(&lock) == 0);
    while (waiting < 4)
        CHECK(pthread_cond_wait(&is_waiting, &lock) == 0);
    CHECK(passed == 0);
    for (int i = 0; i < 4; i += at_once) {
        tickets += at_once;
        CHECK((at_once == 1 ? pthread_cond_signal : pthread_cond_broadcast)(&condition) == 0);
    }
    CHECK(pthread_mutex_unlock(&lock) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(passed == 4 && tickets == 0);
}

// --- time

static void *mutex_is_held(void *unused) {
    (void)unused;
    CHECK(pthread_mutex_trylock(&lock) == EBUSY);
    return NULL;
}

static void check_held(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, mutex_is_held, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void gives_up(void) {
    CHECK(pthread_mutex_lock(&lock) == 0);
    struct timespec when = soon(CLOCK_REALTIME);
    int result;
    while ((result = pthread_cond_timedwait(&condition, &lock, &when)) == 0)
        ;
    CHECK(result == ETIMEDOUT && has_passed(CLOCK_REALTIME, &when));
    check_held();
    when = soon(CLOCK_MONOTONIC);
    while ((result = pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &when)) == 0)
        ;
    CHECK(result == ETIMEDOUT && has_passed(CLOCK_MONOTONIC, &when));
    CHECK(pthread_cond_timedwait(&condition, &lock, &long_ago) == ETIMEDOUT);
    CHECK(pthread_cond_timedwait(&condition, &lock, &before_all) == ETIMEDOUT);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_cond_timedwait(&condition, &lock, &no_time[i]) == EINVAL);
        CHECK(pthread_cond_clockwait(&condition, &lock, CLOCK_REALTIME, &no_time[i]) == EINVAL);
    }
    CHECK(pthread_cond_clockwait(&condition, &lock, CLOCK_PROCESS_CPUTIME_ID, &when) == EINVAL);
    check_held(); // refused: nothing was given back
    CHECK(pthread_mutex_unlock(&lock) == 0);
}

static void clock_attribute(void) {
    pthread_condattr_t attributes;
    pthread_cond_t steady;
    clockid_t clock = -1;
    CHECK(pthread_condattr_init(&attributes) == 0);
    CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_REALTIME);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_PROCESS_CPUTIME_ID) == EINVAL);
    CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    CHECK(pthread_condattr_setpshared(&attributes, 77) == EINVAL);
    CHECK(pthread_cond_init(&steady, &attributes) == 0);
    CHECK(pthread_condattr_destroy(&attributes) == 0);
    CHECK(pthread_mutex_lock(&lock) == 0);
    struct timespec when = soon(CLOCK_MONOTONIC);
    int result;
    while ((result = pthread_cond_timedwait(&steady, &lock, &when)) == 0)
        ;
    CHECK(result == ETIMEDOUT && has_passed(CLOCK_MONOTONIC, &when));
    CHECK(pthread_mutex_unlock(&lock) == 0);
    CHECK(pthread_cond_destroy(&steady) == 0);
}

// --- the mutex

static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static void *not_the_owner(void *mutex) {
    struct timespec when = late(CLOCK_REALTIME);
    CHECK(pthread_cond_wait(&condition, mutex) == EPERM);
    CHECK(pthread_cond_timedwait(&condition, mutex, &when) == EPERM);
    return NULL;
}

static void owners(void) {
    pthread_t thread;
    CHECK(pthread_cond_wait(&condition, &checking) == EPERM);
    CHECK(pthread_cond_wait(&condition, &recursive) == EPERM);
    CHECK(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&recursive) == 0);
    CHECK(pthread_create(&thread, NULL, not_the_owner, &checking) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, not_the_owner, &recursive) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_unlock(&checking) == 0 && pthread_mutex_unlock(&recursive) == 0);
}

// --- destroyed right after the broadcast, and its memory taken away, while waiters are still on
// their way out: one that still looked at it would be killed

static int go, gone_to_wait;

static void *wait_for_go(void *argument) {
    CHECK(pthread_mutex_lock(&lock) == 0);
    gone_to_wait++;
    CHECK(pthread_cond_signal(&is_waiting) == 0);
    while (!go)
        CHECK(pthread_cond_wait(argument, &lock) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    return NULL;
}

static void destroyed_at_once(void) {
    pthread_t threads[3];
    pthread_cond_t *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED && pthread_cond_init(shared, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, wait_for_go, shared) == 0);
    CHECK(pthread_mutex_lock(&lock) == 0);
    while (gone_to_wait < 3)
        CHECK(pthread_cond_wait(&is_waiting, &lock) == 0);
    go = 1;
    CHECK(pthread_cond_broadcast(shared) == 0);
    CHECK(pthread_mutex_unlock(&lock) == 0);
    CHECK(pthread_cond_destroy(shared) == 0);
    CHECK(munmap(shared, sizeof *shared) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
    CHECK(pthread_cond_signal(&condition) == 0); // nobody waits: nothing is kept
    CHECK(pthread_cond_broadcast(&condition) == 0);
    wakes(1);
    wakes(4);
    gives_up();
    clock_attribute();
    owners();
    destroyed_at_once();
    return 0;
}
