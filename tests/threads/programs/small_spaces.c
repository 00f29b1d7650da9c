// SPDX-License-Identifier: Apache-2.0
// Programs so small that all their schedules can be counted by hand; the first argument says which.
// What each prints depends on the order of its two threads: main, and one that it creates.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char told[64];
static atomic_int at;
static int count[2];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void tell(char who) { // one decision point
    told[atomic_fetch_add(&at, 1)] = who;
}

// --- atomics: each thread does so many operations

static void *atomics(void *unused) {
    for (int i = 0; i < count[1]; i++)
        tell('b');
    return unused;
}

static void atomics_main(void) {
    for (int i = 0; i < count[0]; i++)
        tell('a');
}

// --- apart: the same, but each thread on an object of its own

static atomic_int own[2];
static int plain_at;

static void tell_apart(int who) {
    atomic_fetch_add(&own[who], 1);
    told[plain_at++] = "ab"[who];
}

static void *apart(void *unused) {
    for (int i = 0; i < count[1]; i++)
        tell_apart(1);
    return unused;
}

static void apart_main(void) {
    for (int i = 0; i < count[0]; i++)
        tell_apart(0);
}

// --- locked: each thread takes the lock so many times

static int locked_at;

static void enter(char who) {
    pthread_mutex_lock(&lock);
    told[locked_at++] = who;
    pthread_mutex_unlock(&lock);
}

static void *locked(void *unused) {
    for (int i = 0; i < count[1]; i++)
        enter('b');
    return unused;
}

static void locked_main(void) {
    for (int i = 0; i < count[0]; i++)
        enter('a');
}

// --- plain: each thread adds one to a plain counter, so many times

static int plain_counter;

static void *plain(void *unused) {
    for (int i = 0; i < count[1]; i++)
        plain_counter++;
    return unused;
}

static void plain_main(void) {
    for (int i = 0; i < count[0]; i++)
        plain_counter++;
}

// --- often: the same, but each time in memory

static volatile int often_counter;

static void *often(void *unused) {
    for (int i = 0; i < count[1]; i++)
        often_counter = often_counter + 1;
    return unused;
}

static void often_main(void) {
    for (int i = 0; i < count[0]; i++)
        often_counter = often_counter + 1;
}

// --- after: the second thread reads what main writes behind a lock that it gave back long before

static int ready, data;

static void *after(void *unused) {
    pthread_mutex_lock(&lock);
    int seen = ready;
    pthread_mutex_unlock(&lock);
    told[0] = seen ? '0' + (char)data : '-';
    return unused;
}

static void after_main(void) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    data = 1;
}

// --- timed: the second thread waits for main's signal, but not for ever

static void *timed(void *unused) {
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += 1;
    int error = 0;
    pthread_mutex_lock(&lock);
    while (!ready && !error)
        error = pthread_cond_timedwait(&changed, &lock, &when);
    told[0] = ready ? 'y' : 'n';
    told[1] = error ? 't' : 's';
    pthread_mutex_unlock(&lock);
    return unused;
}

static void timed_main(void) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&changed);
}

// --- spin: main waits for the second thread by looking

static atomic_int flag;

static void *spin(void *unused) {
    tell('b');
    atomic_store(&flag, 1);
    return unused;
}

static void spin_main(void) {
    while (!atomic_load(&flag))
        ;
    tell('a');
}

static void *yielding(void *unused) {
    return spin(unused);
}

static void yielding_main(void) {
    while (!atomic_load(&flag))
        sched_yield();
    tell('a');
}

static const struct {
    const char *name;
    void *(*other)(void *);
    void (*main)(void);
} programs[] = {
    {"atomics", atomics, atomics_main},    {"apart", apart, apart_main},
    {"locked", locked, locked_main},       {"plain", plain, plain_main},
    {"after", after, after_main},          {"timed", timed, timed_main},
    {"often", often, often_main},          {"spin", spin, spin_main},
    {"yielding", yielding, yielding_main},
};

int main(int arguments, char **argument) {
    count[0] = arguments > 2 ? atoi(argument[2]) : 0;
    count[1] = arguments > 3 ? atoi(argument[3]) : 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (arguments > 1 && strcmp(argument[1], programs[i].name) == 0) {
            pthread_t other;
            pthread_create(&other, NULL, programs[i].other, NULL);
            programs[i].main();
            pthread_join(other, NULL);
            printf("%s%d\n", told, plain_counter);
            return 0;
        }
    return 64;
}
