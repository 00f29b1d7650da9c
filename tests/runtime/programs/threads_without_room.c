// SPDX-License-Identifier: Apache-2.0
// Where the kernel maps no more, a thread is refused, and those that are there go on.
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAPPINGS 200000 // some machines permit a million, which takes too long
#define LEFT 64

static long permitted(void) {
    long count = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    CHECK(file && fscanf(file, "%ld", &count) == 1 && fclose(file) == 0);
    return count;
}

// Neighbours of different kinds do not become one.
static char *page(int number) {
    int access = number % 2 ? PROT_READ : PROT_NONE;
    char *made = mmap(NULL, 4096, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

static int use_up(char **pages) {
    int count = 0;
    while (count < MAPPINGS && (pages[count] = page(count)))
        count++;
    return count;
}

static void give_back(char **pages, int from, int to) {
    for (int i = from; i < to; i++)
        CHECK(munmap(pages[i], 4096) == 0);
}

static void *nothing(void *argument) {
    return argument;
}

int main(void) {
    static char *pages[MAPPINGS];
    static pthread_t threads[LEFT];
    if (permitted() >= MAPPINGS)
        return 0;
    int used = use_up(pages), error = 0, made = 0;
    give_back(pages, used - LEFT, used);
    while (made < LEFT && !(error = pthread_create(&threads[made], NULL, nothing, pages)))
        made++;
    CHECK(error == EAGAIN && made > 0);
    for (int i = 0; i < made; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0 && result == pages);
    }
    give_back(pages, 0, used - LEFT);
    return 0;
}
