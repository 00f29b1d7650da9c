// SPDX-License-Identifier: Apache-2.0
// fork by a thread: the child has that thread only, handlers run in order, and it can go on as a
// program of many threads.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t ready, never;
static char said[16];
static _Thread_local int mine = 5;
static int total;

static void say(char letter) {
    said[strlen(said)] = letter;
}

static void before(void) {
    pthread_mutex_lock(&mutex);
    say('b');
}

static void after_in_parent(void) {
    pthread_mutex_unlock(&mutex);
    say('p');
}

static void after_in_child(void) {
    pthread_mutex_unlock(&mutex);
    say('c');
}

static void before2(void) {
    say('B');
}

static void parent2(void) {
    say('P');
}

static void child2(void) {
    say('C');
}

static void *counts(void *by) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        total += *(int *)by;
        pthread_mutex_unlock(&mutex);
    }
    return by;
}

static void *waits_forever(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    sem_post(&ready);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    return NULL;
}

static void *blocked_forever(void *unused) {
    (void)unused;
    sem_post(&ready);
    sem_wait(&never);
    return NULL;
}

static void create_and_join(void) {
    pthread_t threads[5];
    int one = 1;
    total = 0;
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&threads[i], NULL, counts, &one) == 0);
    for (int i = 0; i < 5; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == &one);
    }
    CHECK(total == 250);
}

static int status_of(pid_t child) {
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

static void in_child(const char *who, pthread_t self, pid_t parent) {
    CHECK(strcmp(said, "BbcC") == 0);
    CHECK(strcmp(who, "thread") == 0 && mine == 6);
    CHECK(pthread_equal(self, pthread_self()));
    CHECK(getpid() != parent && gettid() == getpid());
    pthread_cond_broadcast(&condition); // for nobody
    sem_post(&never);
    CHECK(sem_trywait(&never) == 0); // nobody took it
    create_and_join();
    pid_t grandchild = fork();
    if (grandchild == 0) {
        create_and_join();
        exit(3);
    }
    CHECK(WEXITSTATUS(status_of(grandchild)) == 3);
}

static void *forks(void *unused) {
    (void)unused;
    char who[] = "thread";
    pthread_t self = pthread_self();
    pid_t parent = getpid();
    mine = 6;
    memset(said, 0, sizeof said);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        in_child(who, self, parent);
        exit(7);
    }
    CHECK(strcmp(said, "BbpP") == 0);
    CHECK(WEXITSTATUS(status_of(child)) == 7);
    child = fork();
    if (child == 0)
        pthread_exit(NULL); // the last thread: the process ends with 0
    int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return NULL;
}

static void *forks_to_return(void *out) {
    *(pid_t *)out = fork();
    return out;
}

int main(void) {
    pthread_t others[3], thread;
    pid_t child;
    CHECK(pthread_atfork(before, after_in_parent, after_in_child) == 0);
    CHECK(pthread_atfork(before2, parent2, child2) == 0);
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    CHECK(pthread_create(&others[0], NULL, waits_forever, NULL) == 0);
    CHECK(pthread_create(&others[1], NULL, blocked_forever, NULL) == 0);
    CHECK(pthread_create(&others[2], NULL, blocked_forever, NULL) == 0);
    for (int i = 0; i < 3; i++)
        sem_wait(&ready);
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_create(&thread, NULL, forks, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    // A child whose thread returns from its function ends too; nothing of main runs in it.
    CHECK(pthread_create(&thread, NULL, forks_to_return, &child) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    int status = status_of(child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    create_and_join();
    return 0;
}
