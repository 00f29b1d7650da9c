// SPDX-License-Identifier: Apache-2.0
// What the argument says, in any schedule.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused) {
    count = count + 1;
    return unused;
}

static void *add_locked(void *unused) {
    pthread_mutex_lock(&lock);
    add(unused);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void together(void *(*one)(void *)) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, one, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

int main(int arguments, char **argument) {
    const char *what = arguments > 1 ? argument[1] : "";
    printf("done\n");
    if (strncmp(what, "race", 4) == 0)
        together(add);
    if (strcmp(what, "locked") == 0)
        together(add_locked);
    if (strcmp(what, "deadlock") == 0) {
        pthread_mutex_lock(&lock);
        together(add_locked);
    }
    if (strcmp(what, "twice") == 0) {
        void *volatile block = malloc(100);
        free(block);
        free(block);
    }
    if (strcmp(what, "race-and-leave") == 0) {
        fflush(stdout);
        _exit(0);
    }
    return 0;
}
