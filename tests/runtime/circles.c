// SPDX-License-Identifier: Apache-2.0
// Waits that never end, and some that only look so: the argument says which.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LONG 300000 // looks

static int plain;
static volatile int watched;
static atomic_int shared, turn, tickets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static sem_t empty;

// --- for ever

static void on_plain(void) {
    while (!plain)
        sched_yield();
}

static void on_volatile(void) {
    while (!watched)
        ;
}

static void on_atomic(void) {
    while (!atomic_load(&shared))
        ;
}

static void with_yield(void) {
    while (!atomic_load(&shared))
        sched_yield();
}

static void with_sleep(void) {
    while (!atomic_load(&shared))
        usleep(100);
}

static void under_lock(void) {
    for (int set = 0; !set; pthread_mutex_unlock(&lock)) {
        pthread_mutex_lock(&lock);
        set = plain;
    }
}

static void exchanging(void) {
    int expected = 1;
    while (!atomic_compare_exchange_strong(&shared, &expected, 2))
        expected = 1;
}

static void on_semaphore(void) {
    while (sem_trywait(&empty) != 0)
        ;
}

static void trying(void) {
    while (pthread_mutex_trylock(&other) != 0)
        sched_yield();
}

static void allocating(void) {
    while (!watched)
        free(malloc(100));
}

// --- not for ever

static char pages[64][4096];

static void counting_on_pages(void) {
    for (long i = 0; i < LONG && !watched; i++)
        pages[i % 64][0]++;
}

static void counting_in_a_register(void) {
    for (long i = 0; i < LONG && !watched; i++)
        ;
}

static void counting_in_memory(void) {
    static long looks;
    while (looks++ < LONG && !watched)
        ;
}

__attribute__((no_sanitize("thread"), noinline)) static int unseen(void) {
    static int looks;
    return ++looks < LONG;
}

static void counting_where_nobody_sees(void) {
    while (unseen() && !watched)
        ;
}

static long seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void until_a_moment(void) {
    for (long start = seconds(); !watched && seconds() < start + 2;)
        usleep(100);
}

static void reading_zeros(void) {
    char byte;
    int zeros = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < LONG / 10; i++)
        if (read(zeros, &byte, 1) != 1)
            abort();
    close(zeros);
}

static void taking_tickets(void) {
    while (atomic_fetch_add(&tickets, 1) < LONG)
        ;
}

// Two that hinder each other as long as they go in step.
static void backing_off(void) {
    int mine = atomic_fetch_add(&turn, 1) & 1;
    pthread_mutex_t *first = mine ? &lock : &other, *second = mine ? &other : &lock;
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            break;
        pthread_mutex_unlock(first);
        sched_yield();
    }
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void stop(int number) {
    (void)number;
    watched = 1;
}

// Somebody else may send it.
static void for_a_signal(void) {
    signal(SIGTERM, stop);
    counting_where_nobody_sees();
}

static void with_another_process(void) {
    int *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < LONG && !*(volatile int *)memory; i++)
        ;
}

static const struct {
    const char *name;
    void (*function)(void);
} ways[] = {
    {"plain", on_plain},
    {"volatile", on_volatile},
    {"atomic", on_atomic},
    {"yield", with_yield},
    {"sleep", with_sleep},
    {"lock", under_lock},
    {"exchange", exchanging},
    {"semaphore", on_semaphore},
    {"trylock", trying},
    {"allocate", allocating},
    {"pages", counting_on_pages},
    {"register", counting_in_a_register},
    {"memory", counting_in_memory},
    {"unseen", counting_where_nobody_sees},
    {"moment", until_a_moment},
    {"zeros", reading_zeros},
    {"tickets", taking_tickets},
    {"back-off", backing_off},
    {"signal", for_a_signal},
    {"process", with_another_process},
};

static void *thread(void *index) {
    ways[(long)index].function();
    return NULL;
}

int main(int count, char **arguments) {
    int threads = count > 2 ? atoi(arguments[2]) : 1;
    pthread_t all[16];
    if (count > 1 && strcmp(arguments[1], "trylock") == 0)
        pthread_mutex_lock(&other);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (count > 1 && strcmp(arguments[1], ways[i].name) == 0)
            for (int k = 0; k < threads; k++)
                pthread_create(&all[k], NULL, thread, (void *)i);
    for (int k = 0; k < threads; k++)
        pthread_join(all[k], NULL);
    puts("done");
    return 0;
}
