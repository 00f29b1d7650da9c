// SPDX-License-Identifier: Apache-2.0
// Several threads load, look up and unload at once; a handle stays good until its last unload.
#include "check.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

static char path[PATH_MAX + 16], directory[PATH_MAX];

static void *loads(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL);
        int (*steps)(void);
        *(void **)&steps = dlsym(library, "library_steps");
        CHECK(steps && steps() == 3000);
        Dl_info info;
        CHECK(dladdr((void *)steps, &info) != 0 && strcmp(info.dli_sname, "library_steps") == 0);
        CHECK(dlsym(library, "no such symbol") == NULL && dlerror() != NULL);
        CHECK(dlclose(library) == 0);
    }
    CHECK(dlopen("/nonexistent.so", RTLD_NOW) == NULL);
    CHECK(strstr(dlerror(), "/nonexistent.so") != NULL); // each thread's own
    CHECK(dlerror() == NULL);
    return NULL;
}

static void constructor_waits(const char *folder) {
    int (*seen)(void);
    snprintf(path, sizeof path, "%s/waits.so", folder);
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library != NULL);
    *(void **)&seen = dlsym(library, "library_seen");
    CHECK(seen && seen() == 2);
    CHECK(dlclose(library) == 0);
}

int main(void) {
    pthread_t threads[4];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    CHECK(length > 0);
    const char *folder = dirname(directory);
    constructor_waits(folder);
    snprintf(path, sizeof path, "%s/slow.so", folder);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, loads, NULL) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
