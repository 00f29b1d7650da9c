// SPDX-License-Identifier: Apache-2.0
// The child takes a lock that another thread may have held when it was forked.
// EXPECT: deadlock lock A
#include "together.h"
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *fork_it(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        pthread_mutex_lock(&lock); // A
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return unused;
}

int main(void) {
    TOGETHER(add, fork_it);
    return 0;
}
