// SPDX-License-Identifier: Apache-2.0
// Two threads that race for a variable; what one of them has seen it holds, or not, when it comes
// to its next synchronisation. But for what one prints, nothing of it is seen from outside.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int level, kept, sum;

#define APART __attribute__((noinline))
#define UNTOLD __attribute__((noinline, noclone, no_sanitize("thread")))

static void synchronise(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

// Ends no region, and may change any register that a call need not keep.
UNTOLD static void nothing(void) {
    __asm__ volatile("" ::: "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
}

static void *raises(void *unused) {
    level = 1;
    return unused;
}

// Behind the lock it needs what it has seen.
APART static void *needs(void *unused) {
    int seen = level;
    synchronise();
    if (seen > 5)
        kept = 7;
    return unused;
}

// Before the lock it is done with it.
APART static void *is_done(void *unused) {
    int seen = level;
    if (seen > 5)
        kept = 7;
    synchronise();
    return unused;
}

// Needs no register of its caller's.
APART static void further_in(void) {
    nothing();
    synchronise();
    nothing();
}

// It is done with it, and has had it where a call keeps it: there it still stands.
APART static void *leaves(void *unused) {
    int seen = level;
    nothing();
    if (seen > 5)
        kept = 7;
    further_in();
    return unused;
}

// It is its caller that needs what it has seen.
APART static void *calls(void *unused) {
    int seen = level;
    further_in();
    if (seen > 5)
        kept = 7;
    return unused;
}

static void *returns(void *unused) {
    (void)unused;
    return (void *)(long)level;
}

static void *turns(void *unused) {
    if (level > 0)
        synchronise();
    else
        synchronise(), nothing();
    return unused;
}

// What it has seen goes into the call that ends its region.
static void *gives(void *unused) {
    __atomic_fetch_add(&sum, level > 5, __ATOMIC_RELAXED);
    return unused;
}

// What it has seen is in a buffer of libc's, and nowhere else.
static void *prints(void *unused) {
    printf("%d\n", level);
    return unused;
}

// --- a variable of another thread

static void *stores_one(void *result) {
    *(int *)result = 1;
    return result;
}

static void *stores_two(void *result) {
    *(int *)result = 2;
    return result;
}

static void run(void *(*one)(void *), void *(*other)(void *)) {
    int result = 0;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, &result);
    pthread_create(&threads[1], NULL, other, &result);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static const struct mode {
    const char *name;
    void *(*one)(void *), *(*other)(void *);
} modes[] = {
    {"needs", raises, needs}, {"is_done", raises, is_done}, {"leaves", raises, leaves},
    {"calls", raises, calls}, {"returns", raises, returns}, {"turns", raises, turns},
    {"gives", raises, gives}, {"prints", raises, prints},   {"stores", stores_one, stores_two},
};

int main(int count, char **words) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (count > 1 && strcmp(modes[i].name, words[1]) == 0)
            run(modes[i].one, modes[i].other);
    return 0;
}
