// SPDX-License-Identifier: Apache-2.0
// Locks, used wrongly in the way that is asked for, by one thread unless it takes two.
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

static void *give_back(void *unused) {
    pthread_rwlock_unlock(&rwlock);
    return unused;
}

static void others_reading(void) {
    pthread_t thread;
    pthread_rwlock_rdlock(&rwlock);
    pthread_create(&thread, NULL, give_back, NULL);
    pthread_join(thread, NULL);
}

static void destroyed(void) {
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_destroy(&mutex);
    pthread_mutex_lock(&mutex);
}

static void made_again(void) {
    pthread_mutex_destroy(&mutex);
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_destroy(&mutex);
    pthread_mutex_init(&mutex, NULL);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

int main(int count, char **arguments) {
    const char *way = count > 1 ? arguments[1] : "";
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    if (strcmp(way, "reader") == 0)
        others_reading();
    if (strcmp(way, "destroyed") == 0)
        destroyed();
    if (strcmp(way, "made-again") == 0)
        made_again();
    if (strcmp(way, "recursive") == 0)
        pthread_mutex_unlock(&recursive);
    if (strcmp(way, "checking") == 0)
        pthread_mutex_unlock(&checking);
    if (strcmp(way, "spin") == 0)
        pthread_spin_unlock(&spin);
    if (strcmp(way, "rwlock-held") == 0) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_destroy(&rwlock);
    }
    if (strcmp(way, "rwlock-again") == 0) {
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    return 0;
}
