// SPDX-License-Identifier: Apache-2.0
// A library whose constructor loads another one and makes a thread, loaded by several threads.
#include "team.h"

#include <dlfcn.h>
#include <string.h>

static char folder[4096];
static int calls;

static void *library(const char *name) {
    char path[5000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle)
        fprintf(stderr, "%s\n", dlerror());
    return handle;
}

static void *loads(void *number) {
    (void)number;
    void *handle = library("outer.so");
    CHECK(handle);
    int (*answer)(void) = (int (*)(void))dlsym(handle, "outer_answer");
    CHECK(answer && answer() == 42);
    __atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
    CHECK(dlclose(handle) == 0);
    return NULL;
}

int main(void) {
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    CHECK(length > 0);
    *strrchr(folder, '/') = 0;
    char inner[5000];
    snprintf(inner, sizeof inner, "%s/inner.so", folder);
    setenv("INNER", inner, 1); // for the outer one's constructor
    run_team(3, loads);
    CHECK(calls == 3);
    return 0;
}
