// SPDX-License-Identifier: Apache-2.0
// Threads that use their stack to within 16 KiB of its end, by recursion, arrays and alloca.
#include "team.h"

#include <alloca.h>
#include <string.h>

#define SPARE (16 << 10)

static char *lowest(void) {
    pthread_attr_t attributes;
    void *address;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &address, &size) == 0);
    pthread_attr_destroy(&attributes);
    return address;
}

__attribute__((noinline)) static long recurse(const char *end, long depth) {
    volatile char frame[200];
    frame[depth % 200] = 1;
    if ((char *)frame - end < SPARE)
        return depth + frame[depth % 200] - 1;
    return recurse(end, depth + 1) + frame[depth % 200] - 1;
}

__attribute__((noinline)) static void fill(const char *end) {
    char here;
    size_t left = (size_t)(&here - end) - SPARE;
    char *all = alloca(left);
    memset(all, 7, left);
    CHECK(all[0] == 7 && all[left - 1] == 7);
}

static void *uses_all(void *number) {
    const char *end = lowest();
    if (number_of(number) % 2)
        fill(end);
    else
        CHECK(recurse(end, 0) > 100);
    return NULL;
}

int main(void) {
    size_t sizes[] = {64 << 10, 256 << 10, 1 << 20};
    for (int i = 0; i < 3; i++) {
        pthread_attr_t attributes;
        pthread_t threads[4];
        CHECK(pthread_attr_init(&attributes) == 0);
        CHECK(pthread_attr_setstacksize(&attributes, sizes[i]) == 0);
        for (long t = 0; t < 4; t++)
            CHECK(pthread_create(&threads[t], &attributes, uses_all, (void *)t) == 0);
        for (int t = 0; t < 4; t++)
            CHECK(pthread_join(threads[t], NULL) == 0);
        pthread_attr_destroy(&attributes);
    }
    return 0;
}
