// SPDX-License-Identifier: Apache-2.0
// Libraries with TLS, loaded while threads run: each thread, old or new, has its own fresh copy.
#include "check.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static int *(*number)(void);
static int (*large)(void);
static int initial;
static sem_t loaded, ready;
static char directory[PATH_MAX];

static void *load(const char *name) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s.so", directory, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library != NULL);
    *(void **)&number = dlsym(library, "library_number");
    *(void **)&large = dlsym(library, "library_large");
    CHECK(number && large);
    return library;
}

static void *fresh(void *unused) {
    (void)unused;
    CHECK(*number() == initial && large() == 1);
    for (int i = 0; i < 5; i++) {
        ++*number();
        sched_yield();
        CHECK(*number() == initial + i + 1);
    }
    CHECK(large() == 11);
    return NULL;
}

static void *was_there_before(void *unused) {
    sem_post(&ready);
    sem_wait(&loaded);
    return fresh(unused);
}

static void use(const char *name, int value) {
    pthread_t before[3], after[3];
    initial = value;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&before[i], NULL, was_there_before, NULL) == 0);
    for (int i = 0; i < 3; i++)
        sem_wait(&ready);
    void *library = load(name);
    for (int i = 0; i < 3; i++)
        sem_post(&loaded);
    for (int i = 0; i < 3; i++)
        CHECK(pthread_join(before[i], NULL) == 0);
    for (int round = 0; round < 3; round++) { // control blocks that others have used
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&after[i], NULL, fresh, NULL) == 0);
        for (int i = 0; i < 3; i++)
            CHECK(pthread_join(after[i], NULL) == 0);
    }
    CHECK(*number() == value);
    CHECK(dlclose(library) == 0);
}

int main(void) {
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    CHECK(length > 0);
    dirname(directory);
    sem_init(&loaded, 0, 0);
    sem_init(&ready, 0, 0);
    use("dynamic", 17);
    use("initial", 23);
    use("dynamic", 17);
    return 0;
}
