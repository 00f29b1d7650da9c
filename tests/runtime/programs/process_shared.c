// SPDX-License-Identifier: Apache-2.0
// Objects in memory that two processes have: semaphores, mutexes and conditions work across them.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct shared {
    sem_t ping, pong;
    pthread_mutex_t mutex, checking;
    pthread_cond_t changed;
    int count, turn;
} *shared;

static void make(void) {
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(sem_init(&shared->ping, 1, 0) == 0 && sem_init(&shared->pong, 1, 0) == 0);
    CHECK(pthread_mutexattr_init(&of_mutex) == 0);
    CHECK(pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &of_mutex) == 0);
    CHECK(pthread_mutexattr_settype(&of_mutex, PTHREAD_MUTEX_ERRORCHECK) == 0);
    CHECK(pthread_mutex_init(&shared->checking, &of_mutex) == 0);
    CHECK(pthread_condattr_init(&of_condition) == 0);
    CHECK(pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_cond_init(&shared->changed, &of_condition) == 0);
}

static void count(void) {
    for (int i = 0; i < 50; i++) {
        CHECK(pthread_mutex_lock(&shared->mutex) == 0);
        shared->count++;
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    }
}

static void take_turns(int mine) {
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_mutex_lock(&shared->mutex) == 0);
        while (shared->turn % 2 != mine)
            CHECK(pthread_cond_wait(&shared->changed, &shared->mutex) == 0);
        shared->turn++;
        CHECK(pthread_cond_signal(&shared->changed) == 0);
        CHECK(pthread_mutex_unlock(&shared->mutex) == 0);
    }
}

static void *wait_for_ping(void *unused) {
    (void)unused;
    struct timespec when = late(CLOCK_REALTIME);
    CHECK(sem_timedwait(&shared->ping, &when) == 0);
    return NULL;
}

static void child(void) {
    pthread_t thread;
    CHECK(pthread_mutex_trylock(&shared->checking) == EBUSY); // the parent's
    CHECK(pthread_mutex_unlock(&shared->checking) == EPERM);
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(pthread_mutex_timedlock(&shared->checking, &when) == ETIMEDOUT);
    CHECK(pthread_create(&thread, NULL, wait_for_ping, NULL) == 0);
    CHECK(sem_post(&shared->pong) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_mutex_lock(&shared->checking) == 0);
    CHECK(pthread_mutex_unlock(&shared->checking) == 0);
    count();
    take_turns(1);
    _exit(0);
}

// --- a thread is not taken for one of another process, whatever its number

static pid_t holder;
static int taken;

static void *try_if_named_alike(void *unused) {
    if (gettid() == holder)
        taken = pthread_mutex_trylock(&shared->checking) != EBUSY ||
                pthread_mutex_unlock(&shared->checking) != EPERM;
    return unused;
}

static void named_alike(void) {
    pthread_t thread;
    holder = fork();
    CHECK(holder >= 0);
    if (holder == 0) {
        CHECK(pthread_mutex_lock(&shared->checking) == 0 && sem_post(&shared->pong) == 0);
        CHECK(sem_wait(&shared->ping) == 0 && pthread_mutex_unlock(&shared->checking) == 0);
        _exit(0);
    }
    CHECK(sem_wait(&shared->pong) == 0);
    for (int i = 0; i < 200; i++)
        CHECK(pthread_create(&thread, NULL, try_if_named_alike, NULL) == 0 &&
              pthread_join(thread, NULL) == 0);
    CHECK(!taken && sem_post(&shared->ping) == 0 && waitpid(holder, NULL, 0) == holder);
}

int main(void) {
    int status;
    make();
    named_alike();
    CHECK(pthread_mutex_lock(&shared->checking) == 0);
    CHECK(pthread_mutex_lock(&shared->checking) == EDEADLK);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        child();
    CHECK(sem_wait(&shared->pong) == 0);
    CHECK(pthread_mutex_unlock(&shared->checking) == 0);
    CHECK(sem_post(&shared->ping) == 0);
    count();
    take_turns(0);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(shared->count == 100 && shared->turn == 6);
    struct timespec when = soon(CLOCK_REALTIME);
    CHECK(sem_timedwait(&shared->ping, &when) == -1 && errno == ETIMEDOUT);
    CHECK(pthread_mutex_lock(&shared->mutex) == 0);
    CHECK(pthread_cond_timedwait(&shared->changed, &shared->mutex, &when) == ETIMEDOUT);
    CHECK(pthread_cond_destroy(&shared->changed) == 0);
    return 0;
}
