// SPDX-License-Identifier: Apache-2.0
// What nested_loading.c loads.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

static void *inner;
static int *value;
static int made;

static void *makes(void *unused) {
    made = 2;
    return unused;
}

__attribute__((constructor)) static void begin(void) {
    inner = dlopen(getenv("INNER"), RTLD_NOW);
    value = inner ? dlsym(inner, "inner_value") : NULL;
}

__attribute__((destructor)) static void end(void) {
    if (inner)
        dlclose(inner);
}

int outer_answer(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, makes, NULL) != 0 || pthread_join(thread, NULL) != 0)
        return -1;
    return value ? *value + made : -1;
}
