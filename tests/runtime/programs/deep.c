// SPDX-License-Identifier: Apache-2.0
// Recursion to the end of what a stack holds, in main and in threads of several sizes.
#include "check.h"

#include <pthread.h>
#include <stdint.h>

static long __attribute__((noinline)) down(long depth) {
    return depth ? down(depth - 1) + 1 : 0;
}

static void *recurses(void *depth) {
    CHECK(down((long)(intptr_t)depth) == (long)(intptr_t)depth);
    return NULL;
}

static void in_stack(size_t size, long depth) {
    pthread_attr_t attributes;
    pthread_t threads[2];
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, size) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], &attributes, recurses, (void *)(intptr_t)depth) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
}

int main(void) {
    recurses((void *)50000);
    in_stack(256 << 10, 2500);
    in_stack(16 << 20, 150000);
    return 0;
}
