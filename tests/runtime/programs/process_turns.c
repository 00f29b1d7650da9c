// SPDX-License-Identifier: Apache-2.0
// replayed
// Who of several processes comes when to what they share: in a replay in the same order.
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PROCESSES 3
#define ROUNDS 10

static struct shared {
    pthread_mutex_t mutex;
    pthread_rwlock_t lock;
    sem_t free;
    int count;
    char who[3 * PROCESSES * ROUNDS];
} *shared;

static void make(void) {
    pthread_mutexattr_t of_mutex;
    pthread_rwlockattr_t of_lock;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_mutexattr_init(&of_mutex) == 0);
    CHECK(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &of_mutex) == 0);
    CHECK(pthread_rwlockattr_init(&of_lock) == 0);
    CHECK(pthread_rwlockattr_setpshared(&of_lock, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_rwlock_init(&shared->lock, &of_lock) == 0);
    CHECK(sem_init(&shared->free, 1, 1) == 0);
}

// Long enough that another process comes in between at times.
static void compute(void) {
    for (volatile int i = 0; i < 10000; i++)
        ;
}

static void sign(char who) {
    shared->who[shared->count++] = who;
}

static void come_with_the_mutex(char who) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_mutex_lock(&shared->mutex) == 0);
        sign(who);
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
        compute();
    }
}

static void come_to_write(char who) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
        sign(who);
        CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
        compute();
    }
}

static void come_with_the_semaphore(char who) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(sem_wait(&shared->free) == 0);
        sign(who);
        CHECK(sem_post(&shared->free) == 0);
        compute();
    }
}

static void together(void (*does)(char)) {
    pid_t children[PROCESSES];
    int status;
    for (int i = 0; i < PROCESSES; i++)
        if ((children[i] = fork()) == 0) {
            does((char)('a' + i));
            _exit(0);
        }
    for (int i = 0; i < PROCESSES; i++)
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
}

// What several processes write is compared without its order: so a number stands for this one.
static unsigned order(void) {
    unsigned hash = 0;
    for (int i = 0; i < shared->count; i++)
        hash = hash * 31 + (unsigned char)shared->who[i];
    return hash;
}

int main(void) {
    make();
    together(come_with_the_mutex);
    together(come_to_write);
    together(come_with_the_semaphore);
    CHECK(shared->count == 3 * PROCESSES * ROUNDS);
    printf("%08x\n", order());
    return 0;
}
