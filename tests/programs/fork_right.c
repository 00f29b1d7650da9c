// SPDX-License-Identifier: Apache-2.0
// The lock is taken before the fork and given back in parent and child.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void take(void) {
    pthread_mutex_lock(&lock);
}

static void give_back(void) {
    pthread_mutex_unlock(&lock);
}

static void *add(void *unused) {
    take();
    counter++;
    give_back();
    return unused;
}

static void *fork_it(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        add(unused);
        _exit(counter < 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return unused;
}

int main(void) {
    pthread_atfork(take, give_back, give_back);
    TOGETHER(add, fork_it);
    return 0;
}
