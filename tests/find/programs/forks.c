// SPDX-License-Identifier: Apache-2.0
// A child that races with itself; the parent has one thread.
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int counter;

static void *add(void *unused) {
    counter++;
    return unused;
}

static void race(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}

int main(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        race();
        exit(0);
    }
    return waitpid(child, &status, 0) == child ? status : 1;
}
