// SPDX-License-Identifier: Apache-2.0
// replayed
// Read-write locks, barriers and spin locks in memory that two processes have.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define ROUNDS 5

static struct shared {
    pthread_rwlock_t lock;
    pthread_barrier_t barrier;
    pthread_spinlock_t spin;
    int count, spun, serial, wrong;
} *shared;

static void make(void) {
    pthread_rwlockattr_t of_lock;
    pthread_barrierattr_t of_barrier;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pthread_rwlockattr_init(&of_lock) == 0);
    CHECK(pthread_rwlockattr_setpshared(&of_lock, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_rwlock_init(&shared->lock, &of_lock) == 0);
    CHECK(pthread_barrierattr_init(&of_barrier) == 0);
    CHECK(pthread_barrierattr_setpshared(&of_barrier, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_barrier_init(&shared->barrier, &of_barrier, 2) == 0);
    CHECK(pthread_spin_init(&shared->spin, PTHREAD_PROCESS_SHARED) == 0);
}

static void meet(void) {
    int result = pthread_barrier_wait(&shared->barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
    if (result)
        __atomic_fetch_add(&shared->serial, 1, __ATOMIC_SEQ_CST);
}

static void write_and_read(void) {
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
        shared->count++;
        CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
        CHECK(pthread_spin_lock(&shared->spin) == 0);
        shared->spun++;
        CHECK(pthread_spin_unlock(&shared->spin) == 0);
        CHECK(pthread_rwlock_rdlock(&shared->lock) == 0);
        shared->wrong += shared->count > 2 * ROUNDS;
        CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    }
}

static void child(void) {
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(pthread_rwlock_trywrlock(&shared->lock) == EBUSY); // the parent's
    CHECK(pthread_rwlock_tryrdlock(&shared->lock) == EBUSY);
    CHECK(pthread_rwlock_timedrdlock(&shared->lock, &when) == ETIMEDOUT);
    CHECK(pthread_rwlock_timedwrlock(&shared->lock, &when) == ETIMEDOUT);
    CHECK(pthread_spin_trylock(&shared->spin) == EBUSY);
    meet();
    write_and_read();
    meet();
    _exit(0);
}

static void alone(void) {
    CHECK(pthread_rwlock_rdlock(&shared->lock) == 0);
    CHECK(pthread_rwlock_tryrdlock(&shared->lock) == 0);
    CHECK(pthread_rwlock_trywrlock(&shared->lock) == EBUSY);
    CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    CHECK(pthread_rwlock_wrlock(&shared->lock) == 0);
    CHECK(pthread_rwlock_wrlock(&shared->lock) == EDEADLK);
    CHECK(pthread_spin_lock(&shared->spin) == 0);
}

int main(void) {
    int status;
    make();
    alone();
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child();
    meet(); // the child has seen that all is taken
    CHECK(pthread_rwlock_unlock(&shared->lock) == 0);
    CHECK(pthread_spin_unlock(&shared->spin) == 0);
    write_and_read();
    meet();
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(shared->count == 2 * ROUNDS && shared->spun == 2 * ROUNDS && !shared->wrong);
    CHECK(shared->serial == 2);
    CHECK(pthread_barrier_destroy(&shared->barrier) == 0);
    CHECK(pthread_rwlock_destroy(&shared->lock) == 0);
    return 0;
}
