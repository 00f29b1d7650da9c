// SPDX-License-Identifier: Apache-2.0
// One misuse at a time, by name, for the tools that tell them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *block;

static void *destroy_locked(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_mutex_destroy(&lock);
    return unused;
}

static void *unlock_unlocked(void *unused) {
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *end_locked(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}

static void *give_back(void *unused) {
    free(block);
    return unused;
}

static void *use(void *unused) {
    block[1]++;
    return unused;
}

static void *crash(void *unused) {
    *(volatile int *)unused = 1;
    return unused;
}

static void run(void *(*body)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, NULL);
    pthread_join(thread, NULL);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "";
    block = malloc(40);
    if (!strcmp(what, "destroy"))
        run(destroy_locked);
    if (!strcmp(what, "unlock"))
        run(unlock_unlocked);
    if (!strcmp(what, "end"))
        run(end_locked);
    if (!strcmp(what, "use")) {
        run(give_back);
        run(use);
    }
    if (!strcmp(what, "crash"))
        run(crash);
    return 0;
}
