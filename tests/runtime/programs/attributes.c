// SPDX-License-Identifier: Apache-2.0
// What is asked of threads at creation and afterwards: stacks, detachment, names, priorities,
// processors, numbers, clocks.
#include "check.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static sem_t done, go;

static void own_stack(char **lowest, size_t *size) {
    pthread_attr_t attributes;
    void *address;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &address, size) == 0);
    *lowest = address;
    CHECK(pthread_attr_destroy(&attributes) == 0);
}

static void *sized(void *wanted) {
    char here, *lowest;
    size_t size;
    own_stack(&lowest, &size);
    CHECK(&here > lowest && &here < lowest + size);
    CHECK(size >= *(size_t *)wanted && size < *(size_t *)wanted + 65536);
    char room[*(size_t *)wanted - 32768]; // all of it can be used
    for (size_t i = 0; i < sizeof room; i += 4096)
        ((volatile char *)room)[i] = 1;
    return NULL;
}

static void *given(void *stack) {
    char here, *lowest;
    size_t size;
    own_stack(&lowest, &size);
    CHECK(&here > (char *)stack && &here < (char *)stack + 262144);
    CHECK(lowest == stack && size == 262144);
    return NULL;
}

static void *detached(void *unused) {
    (void)unused;
    pthread_attr_t attributes;
    int state;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0);
    CHECK(state == PTHREAD_CREATE_DETACHED);
    pthread_attr_destroy(&attributes);
    sem_post(&done);
    return NULL;
}

static void run(const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    pthread_t thread;
    CHECK(pthread_create(&thread, attributes, function, argument) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void stacks(void) {
    pthread_attr_t attributes;
    char here, *lowest;
    size_t size = 1 << 20;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 100) == EINVAL);
    CHECK(pthread_attr_setstacksize(&attributes, size) == 0);
    run(&attributes, sized, &size);
    CHECK(pthread_attr_setguardsize(&attributes, 65536) == 0);
    run(&attributes, sized, &size);
    CHECK(pthread_attr_setguardsize(&attributes, 0) == 0);
    run(&attributes, sized, &size);
    void *stack = mmap(NULL, 262144, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pthread_attr_setstack(&attributes, stack, 262144) == 0);
    for (int i = 0; i < 3; i++)
        run(&attributes, given, stack);
    munmap(stack, 262144);
    pthread_attr_destroy(&attributes);
    own_stack(&lowest, &size);
    CHECK(&here > lowest && &here < lowest + size); // main's too
}

static void *waits(void *unused) {
    (void)unused;
    sem_wait(&go);
    sem_post(&done);
    return NULL;
}

static void detachment(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    CHECK(pthread_attr_setdetachstate(&attributes, 99) == EINVAL);
    for (int i = 0; i < 10; i++)
        CHECK(pthread_create(&thread, &attributes, detached, NULL) == 0);
    for (int i = 0; i < 10; i++)
        sem_wait(&done);
    CHECK(pthread_create(&thread, &attributes, waits, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == EINVAL);
    CHECK(pthread_detach(thread) == EINVAL);
    sem_post(&go);
    sem_wait(&done);
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    CHECK(pthread_detach(thread) == 0);
    sem_post(&go);
    sem_wait(&done);
    pthread_attr_destroy(&attributes);
}

static struct timespec in(clockid_t clock, long nanoseconds) {
    struct timespec when;
    clock_gettime(clock, &when);
    when.tv_nsec += nanoseconds;
    when.tv_sec += when.tv_nsec / 1000000000;
    when.tv_nsec %= 1000000000;
    return when;
}

static void joining(void) {
    pthread_t thread;
    void *result;
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
    struct timespec when = in(CLOCK_REALTIME, 1000000), steady = in(CLOCK_MONOTONIC, 1000000);
    CHECK(pthread_timedjoin_np(thread, NULL, &when) == ETIMEDOUT);
    CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &steady) == ETIMEDOUT);
    CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_THREAD_CPUTIME_ID, &steady) == EINVAL);
    sem_post(&go);
    when = in(CLOCK_REALTIME, 60000000000);
    CHECK(pthread_timedjoin_np(thread, &result, &when) == 0 && result == NULL);
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    sem_post(&go);
    int error;
    while ((error = pthread_tryjoin_np(thread, NULL)) == EBUSY)
        sched_yield();
    CHECK(error == 0);
}

static void *named(void *unused) {
    (void)unused;
    char name[16];
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    CHECK(strcmp(name, "first") == 0); // inherited
    CHECK(pthread_setname_np(pthread_self(), "second") == 0);
    CHECK(prctl(PR_GET_NAME, name) == 0 && strcmp(name, "second") == 0);
    CHECK(prctl(PR_SET_NAME, "third") == 0);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    CHECK(strcmp(name, "third") == 0);
    return NULL;
}

static void names(void) {
    char name[16];
    CHECK(pthread_setname_np(pthread_self(), "first") == 0);
    CHECK(pthread_setname_np(pthread_self(), "a name that is too long") == ERANGE);
    CHECK(pthread_getname_np(pthread_self(), name, 3) == ERANGE);
    run(NULL, named, NULL);
    CHECK(pthread_getname_np(pthread_self(), name, sizeof name) == 0 && strcmp(name, "first") == 0);
}

static void *priorities(void *unused) {
    (void)unused;
    struct sched_param priority = {.sched_priority = 5};
    int policy;
    CHECK(pthread_setschedparam(pthread_self(), SCHED_OTHER, &priority) == EINVAL);
    CHECK(pthread_setschedparam(pthread_self(), 99, &priority) == EINVAL);
    priority.sched_priority = 0;
    CHECK(pthread_setschedparam(pthread_self(), SCHED_BATCH, &priority) == 0);
    CHECK(pthread_getschedparam(pthread_self(), &policy, &priority) == 0);
    CHECK(policy == SCHED_BATCH && priority.sched_priority == 0);
    cpu_set_t set, one;
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    int first = 0;
    while (!CPU_ISSET(first, &set))
        first++;
    CPU_ZERO(&one);
    CHECK(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == EINVAL);
    CPU_SET(first, &one);
    CHECK(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
    CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_EQUAL(&set, &one));
    CHECK(sched_getcpu() == first);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_EQUAL(&set, &one));
    clockid_t clock;
    struct timespec time;
    CHECK(pthread_getcpuclockid(pthread_self(), &clock) == 0);
    CHECK(clock_gettime(clock, &time) == 0);
    return NULL;
}

static pid_t numbers[4];

static void *numbered(void *at) {
    pid_t number = gettid();
    *(pid_t *)at = number;
    for (int i = 0; i < 5; i++) {
        sched_yield();
        CHECK(gettid() == number);
    }
    CHECK(tgkill(getpid(), number, 0) == 0);
    sem_wait(&go);
    return NULL;
}

static void threads_numbers(void) {
    pthread_t threads[4];
    CHECK(gettid() == getpid());
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, numbered, &numbers[i]) == 0);
    for (int i = 0; i < 4; i++)
        sem_post(&go);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            CHECK(numbers[i] != numbers[j] && numbers[i] != getpid());
}

static void *blocks_usr1(void *unused) {
    (void)unused;
    sigset_t mask;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, SIGUSR1) == 1);
    return NULL;
}

static void mask_attribute(void) {
    pthread_attr_t attributes;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setsigmask_np(&attributes, &set) == 0);
    run(&attributes, blocks_usr1, NULL);
    pthread_attr_destroy(&attributes);
}

int main(void) {
    sem_init(&done, 0, 0);
    sem_init(&go, 0, 0);
    stacks();
    detachment();
    names();
    run(NULL, priorities, NULL);
    threads_numbers();
    mask_attribute();
    joining();
    return 0;
}
