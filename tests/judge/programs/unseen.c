// SPDX-License-Identifier: Apache-2.0
// One thread stores a level, another looks at it, and nothing comes of it but what is left in
// memory: by a library without hooks (unhooked.c), or by assembly. Each mode is another use.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

void note_call(int), note_only_that(void), note_in_list(int), fill(char *, int, unsigned long);

static int level, by_assembly, untouched;
static unsigned long moment;
static char *kept;

static void to_library(int seen) {
    note_call(seen);
}

static void to_assembly(int seen) {
    __asm__ volatile("movl %1, %0" : "=m"(by_assembly) : "r"(seen));
}

// Whoever is first, the blocks are the same but for what one of them says.
static void to_list(int seen) {
    note_in_list(7);
    if (seen) // so that others lie elsewhere
        free(malloc(2000));
    note_in_list(seen);
}

static void to_nothing(int seen) {
    (void)seen;
    note_only_that();
}

// What a block holds that nobody has written to is nobody's.
static void to_stale(int seen) {
    char *first = malloc(100);
    fill(first, seen + 1, 100);
    free(first);
    kept = malloc(100);
}

static void to_stale_moved(int seen) {
    to_stale(seen);
    kept = realloc(kept, 1000);
    kept[0] = 'x';
}

static void to_moved(int seen) {
    kept = malloc(24);
    fill(kept, seen + 1, 8);
    kept = realloc(kept, 1000);
}

// In one order only, and it changes nothing.
static void to_the_same(int seen) {
    if (seen)
        untouched = 0;
}

static void to_clock(int seen) {
    unsigned low, high;
    (void)seen;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    __asm__ volatile("movl %1, %0" : "=m"(moment) : "r"(low));
}

static const struct {
    const char *name;
    void (*use)(int);
} modes[] = {
    {"library", to_library}, {"assembly", to_assembly},
    {"list", to_list},       {"nothing", to_nothing},
    {"stale", to_stale},     {"moved", to_moved},
    {"same", to_the_same},   {"stale_moved", to_stale_moved},
    {"clock", to_clock},
};

static void *stores(void *nothing) {
    level = 1;
    return nothing;
}

static void *looks(void *use) {
    (*(void (**)(int))use)(level);
    return NULL;
}

int main(int count, char **words) {
    pthread_t threads[2];
    for (unsigned i = 0; count > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(words[1], modes[i].name) == 0) {
            void *use = (void *)&modes[i].use;
            pthread_create(&threads[0], NULL, stores, NULL);
            pthread_create(&threads[1], NULL, looks, use);
            pthread_join(threads[0], NULL);
            pthread_join(threads[1], NULL);
            return 0;
        }
    return 64;
}
