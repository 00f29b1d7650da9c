// SPDX-License-Identifier: Apache-2.0
// Races whose other order leads to more races; the first argument says which. In turns, the first
// thread is the first to touch what both do, and the other races are not there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *work(void *);

static void run(work *first, work *second) {
    pthread_t one, other;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&other, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static int mode, in_use, value;
static int *slot;
static void *use(void *unused) {
    mode = 1;
    if (in_use)
        *slot = 1;
    return unused;
}
static void *provide(void *unused) {
    if (!mode) {
        in_use = 1;
        slot = &value;
    }
    return unused;
}
static void crash(void) {
    run(use, provide);
}

static int level;
static void *provide_late(void *unused) {
    mode = 1;
    if (level) {
        in_use = 1;
        slot = &value;
    }
    return unused;
}
static void *use_late(void *unused) {
    if (!mode) {
        level = 1;
        if (in_use)
            *slot = 1;
    }
    return unused;
}
static void twice(void) {
    run(provide_late, use_late);
}

static char *block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *taken(char *left) {
    pthread_mutex_lock(&lock);
    char *found = block;
    block = left;
    pthread_mutex_unlock(&lock);
    return found;
}
static void *give_back(void *unused) {
    mode = 1;
    free(taken(NULL));
    return unused;
}
static void *look(void *unused) {
    if (!mode) {
        pthread_mutex_lock(&lock);
        char *found = block;
        pthread_mutex_unlock(&lock);
        if (found)
            *found = 'x';
    }
    return unused;
}
static void freed(void) {
    taken(malloc(8));
    run(give_back, look);
}

// The race of 'hits' leads nowhere: whatever its order, that of 'mode' is open behind it.
static int hits;
static void *count_and_use(void *unused) {
    hits = 1;
    return use(unused);
}
static void *count_and_provide(void *unused) {
    hits = 2;
    return provide(unused);
}
static void anyway(void) {
    run(count_and_use, count_and_provide);
}

static void *announce(void *unused) {
    mode = 1;
    printf("%d\n", value);
    return unused;
}
static void *change(void *unused) {
    if (!mode) {
        value = 1;
        value = 0;
    }
    return unused;
}
static void printed(void) {
    run(announce, change);
}

// More of them than are turned round, and all do no harm.
#define SOME(each) each(a) each(b) each(c) each(d) each(e) each(f) each(g) each(h)
#define DEFINED(name) static int name##1, name##2;
#define STORED(name) name##1 = name##2 = 1;
SOME(DEFINED)
static void *store(void *unused) {
    mode = 1;
    SOME(STORED)
    return unused;
}
static void *store_too(void *unused) {
    if (!mode) {
        SOME(STORED)
    }
    return unused;
}
static void many(void) {
    run(store, store_too);
}

static const struct {
    const char *name;
    void (*function)(void);
} all[] = {
    {"crash", crash},   {"twice", twice},     {"freed", freed},
    {"anyway", anyway}, {"printed", printed}, {"many", many},
};

int main(int count, char **arguments) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (count == 2 && strcmp(arguments[1], all[i].name) == 0) {
            all[i].function();
            return 0;
        }
    return 64;
}
