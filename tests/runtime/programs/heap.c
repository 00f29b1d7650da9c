// SPDX-License-Identifier: Apache-2.0
// malloc and its kin, as POSIX, C and glibc have them.
// flags: -Wno-alloc-size-larger-than -Wno-use-after-free -fno-builtin
#include "check.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_aligned(const void *block, size_t alignment) {
    return (uintptr_t)block % alignment == 0;
}

static bool is_all(const char *block, char value, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != value)
            return false;
    return true;
}

static void allocates(void) {
    for (size_t size = 0; size < 3000; size += 7) {
        char *block = malloc(size);
        CHECK(block && is_aligned(block, 16));
        CHECK(malloc_usable_size(block) >= size);
        memset(block, 1, size);
        errno = 5;
        free(block);
        CHECK(errno == 5);
    }
    errno = 0;
    CHECK(malloc(SIZE_MAX) == NULL && errno == ENOMEM);
    free(NULL);
    CHECK(malloc_usable_size(NULL) == 0);
}

static void clears(void) {
    char *dirty = malloc(100);
    memset(dirty, 1, 100);
    free(dirty);
    char *block = calloc(10, 10);
    CHECK(is_all(block, 0, 100));
    free(block);
    errno = 0;
    CHECK(calloc(SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    void *empty = calloc(0, 5);
    CHECK(empty);
    free(empty);
    block = calloc(1 << 20, 4); // a mapping of its own
    CHECK(is_all(block, 0, 4 << 20));
    free(block);
}

static void resizes(void) {
    char *block = realloc(NULL, 10);
    CHECK(block);
    memset(block, 3, 10);
    for (size_t size = 20; size < 1 << 20; size *= 3) {
        block = realloc(block, size);
        CHECK(is_all(block, 3, 10));
    }
    errno = 0;
    CHECK(realloc(block, SIZE_MAX) == NULL && errno == ENOMEM);
    CHECK(is_all(block, 3, 10)); // it is still there
    CHECK(reallocarray(block, SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    block = reallocarray(block, 5, 2);
    CHECK(is_all(block, 3, 10));
    CHECK(realloc(block, 0) == NULL); // frees it
}

static void aligns(void) {
    void *block;
    for (size_t alignment = 16; alignment <= 1 << 16; alignment *= 2) {
        CHECK(posix_memalign(&block, alignment, 50) == 0 && is_aligned(block, alignment));
        free(block);
        block = aligned_alloc(alignment, alignment);
        CHECK(block && is_aligned(block, alignment));
        free(block);
        block = memalign(alignment, 3);
        CHECK(block && is_aligned(block, alignment));
        free(block);
    }
    CHECK(posix_memalign(&block, 3, 50) == EINVAL);
    CHECK(posix_memalign(&block, 16, SIZE_MAX) == ENOMEM);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    block = valloc(10);
    CHECK(is_aligned(block, page));
    free(block);
    block = pvalloc(10);
    CHECK(is_aligned(block, page) && malloc_usable_size(block) >= page);
    free(block);
}

static void duplicates(void) {
    char *text = strdup("text"), *part = strndup("text", 2), *all = strndup("ab", 100);
    CHECK(strcmp(text, "text") == 0 && strcmp(part, "te") == 0 && strcmp(all, "ab") == 0);
    free(text);
    free(part);
    free(all);
}

static void maps(void) {
    char *block = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(block != MAP_FAILED);
    memset(block, 5, 8192);
    block = mremap(block, 8192, 1 << 20, MREMAP_MAYMOVE);
    CHECK(block != MAP_FAILED && is_all(block, 5, 8192) && is_all(block + 8192, 0, 8192));
    CHECK(munmap(block, 1 << 20) == 0);
    errno = 0;
    CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    CHECK(errno == EINVAL);
    CHECK(munmap((void *)1, 4096) == -1 && errno == EINVAL);
}

// Blocks go from one thread to another.
static void *frees(void *block) {
    free(block);
    return malloc(300);
}

static void passes_on(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *block;
        CHECK(pthread_create(&thread, NULL, frees, malloc((size_t)i * 40)) == 0);
        CHECK(pthread_join(thread, &block) == 0 && block);
        free(block);
    }
}

int main(void) {
    allocates();
    clears();
    resizes();
    aligns();
    duplicates();
    maps();
    passes_on();
    return 0;
}
