// SPDX-License-Identifier: Apache-2.0
// A thread forks while others hold locks: handlers make them whole, and the child can allocate,
// print, take the locks and make threads.
#include "team.h"

#include <sys/wait.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static long pair[2];
static int stop;

static void before(void) {
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
}

static void after(void) {
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
}

static void *keeps_locking(void *number) {
    (void)number;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        free(malloc(100));
        pthread_mutex_lock(&one);
        pair[0]++;
        pthread_mutex_lock(&two);
        pair[1]++;
        pthread_mutex_unlock(&two);
        pthread_mutex_unlock(&one);
    }
    return NULL;
}

static void *in_child(void *number) {
    pthread_mutex_lock(&one);
    pair[0] += number_of(number);
    pthread_mutex_unlock(&one);
    return NULL;
}

static void child(void) {
    CHECK(pair[0] == pair[1]);
    long was = pair[0];
    char *block = malloc(5000);
    CHECK(snprintf(block, 5000, "%ld", was) > 0);
    run_team(3, in_child);
    CHECK(pair[0] == was + 3);
    _exit(7);
}

static void *forks(void *unused) {
    for (int i = 0; i < 3; i++) {
        int status;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            child();
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    return unused;
}

int main(void) {
    pthread_t threads[3];
    CHECK(pthread_atfork(before, after, after) == 0);
    CHECK(pthread_create(&threads[0], NULL, keeps_locking, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, keeps_locking, NULL) == 0);
    CHECK(pthread_create(&threads[2], NULL, forks, NULL) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
