// SPDX-License-Identifier: Apache-2.0
// Two threads store to one variable; the argument says what orders them, or is said of it.
#include <pthread.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

void AnnotateHappensBefore(const char *, int, const void *);
void AnnotateHappensAfter(const char *, int, const void *);
void AnnotateRWLockAcquired(const char *, int, const void *, uintptr_t);
void AnnotateRWLockReleased(const char *, int, const void *, uintptr_t);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, uintptr_t, const char *);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void __tsan_memset(void *, int, size_t);

const char *__tsan_default_suppressions(void) {
    return "race:not_shared\n";
}

static const char *how;
static long shared;
static int flag, lock;

static int is(const char *name) {
    return strcmp(how, name) == 0;
}

// A lock of our own; only one thread at a time gets past it.
static void take(int readers) {
    unsigned flags = readers ? __tsan_mutex_read_lock : 0;
    __tsan_mutex_pre_lock(&lock, flags);
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_RELAXED))
        ;
    __tsan_mutex_post_lock(&lock, flags, 0);
}

static void give(int readers) {
    unsigned flags = readers ? __tsan_mutex_read_lock : 0;
    __tsan_mutex_pre_unlock(&lock, flags);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    __tsan_mutex_post_unlock(&lock, flags);
}

static void store(void) {
    shared++;
}

static void turn(void) {
    if (is("mutex") || is("mutex_for_readers")) {
        take(is("mutex_for_readers"));
        store();
        give(is("mutex_for_readers"));
    } else if (is("rwlock")) {
        while (__atomic_exchange_n(&lock, 1, __ATOMIC_RELAXED))
            ;
        AnnotateRWLockAcquired(__FILE__, __LINE__, &lock, 1);
        store();
        AnnotateRWLockReleased(__FILE__, __LINE__, &lock, 1);
        __atomic_store_n(&lock, 0, __ATOMIC_RELAXED);
    } else if (is("ignored")) {
        __tsan_ignore_thread_begin();
        store();
        __tsan_ignore_thread_end();
    } else if (is("ignored_writes")) {
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        shared = 1;
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    } else if (is("memset")) {
        __tsan_memset(&shared, 1, sizeof shared);
    } else if (is("external")) {
        __tsan_external_write(&shared, __builtin_return_address(0), NULL);
    } else {
        store();
    }
}

static void *first(void *argument) {
    turn();
    if (is("acquire"))
        __tsan_release(&flag);
    if (is("happens"))
        AnnotateHappensBefore(__FILE__, __LINE__, &flag);
    __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
    return argument;
}

static void *second(void *argument) {
    while (!__atomic_load_n(&flag, __ATOMIC_RELAXED))
        ;
    if (is("acquire"))
        __tsan_acquire(&flag);
    if (is("happens"))
        AnnotateHappensAfter(__FILE__, __LINE__, &flag);
    turn();
    return argument;
}

// --- a fiber that one thread leaves and another goes on with

static ucontext_t of_thread[2], of_fiber;
static void *fibers[2], *fiber;
static char stack[1 << 16];

static void in_fiber(void) {
    store();
    __tsan_switch_to_fiber(fibers[0], 0);
    swapcontext(&of_fiber, &of_thread[0]);
    store();
    __tsan_switch_to_fiber(fibers[1], 0);
    swapcontext(&of_fiber, &of_thread[1]);
}

static void *run_fiber(void *argument) {
    int number = (int)(intptr_t)argument;
    while (__atomic_load_n(&flag, __ATOMIC_RELAXED) != number)
        ;
    fibers[number] = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, 0);
    swapcontext(&of_thread[number], &of_fiber);
    __atomic_store_n(&flag, number + 1, __ATOMIC_RELAXED);
    return NULL;
}

static void fiber_of_both(void) {
    getcontext(&of_fiber);
    of_fiber.uc_stack.ss_sp = stack;
    of_fiber.uc_stack.ss_size = sizeof stack;
    makecontext(&of_fiber, in_fiber, 0);
    fiber = __tsan_create_fiber(0);
}

int main(int count, char **arguments) {
    pthread_t threads[2];
    how = count > 1 ? arguments[1] : "nothing";
    if (is("benign"))
        AnnotateBenignRaceSized(__FILE__, __LINE__, &shared, sizeof shared, "expected");
    if (is("fiber"))
        fiber_of_both();
    void *(*functions[])(void *) = {is("fiber") ? run_fiber : first,
                                    is("fiber") ? run_fiber : second};
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, functions[i], (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", shared);
    return 0;
}
