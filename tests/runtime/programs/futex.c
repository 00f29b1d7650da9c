// SPDX-License-Identifier: Apache-2.0
// SYS_futex by hand: wait, wake, bit sets, requeue, both clocks, and what is refused.
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

static long futex(uint32_t *word, int operation, uint32_t value, const void *timeout,
                  uint32_t *word2, uint32_t value3) {
    return syscall(SYS_futex, word, operation, value, timeout, word2, value3);
}

#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static uint32_t word, other;
static int private = FUTEX_PRIVATE_FLAG; // or 0: both are served
static int passed;

// --- alone

static void refusals(void) {
    uint32_t wrong[2] = {0, 0};
    word = 5;
    CHECK(FAILS(futex(&word, FUTEX_WAIT | private, 4, NULL, NULL, 0), EAGAIN));
    CHECK(FAILS(futex(&word, FUTEX_WAIT_BITSET | private, 4, NULL, NULL, 1), EAGAIN));
    CHECK(FAILS(futex(&word, FUTEX_WAIT_BITSET | private, 5, NULL, NULL, 0), EINVAL));
    CHECK(FAILS(futex(&word, FUTEX_WAKE_BITSET | private, 1, NULL, NULL, 0), EINVAL));
    CHECK(FAILS(futex(&word, FUTEX_WAIT | private, 5, &no_time[0], NULL, 0), EINVAL));
    CHECK(FAILS(futex(&word, FUTEX_WAIT | private, 5, &no_time[1], NULL, 0), EINVAL));
    CHECK(FAILS(futex((uint32_t *)((char *)wrong + 1), FUTEX_WAIT | private, 0, NULL, NULL, 0),
                EINVAL));
    CHECK(FAILS(futex(NULL, FUTEX_WAIT | private, 0, NULL, NULL, 0), EFAULT));
    CHECK(FAILS(futex(&word, FUTEX_CMP_REQUEUE | private, 1, (void *)1, &other, 4), EAGAIN));
    CHECK(futex(&word, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0) == 0);
    errno = 77;
    CHECK(futex(&word, FUTEX_WAKE | private, 1, NULL, NULL, 0) == 0 && errno == 77);
}

static void times(void) {
    struct timespec length = {0, 1000000};
    word = 5;
    struct timespec when = soon(CLOCK_MONOTONIC);
    CHECK(FAILS(futex(&word, FUTEX_WAIT | private, 5, &length, NULL, 0), ETIMEDOUT));
    CHECK(has_passed(CLOCK_MONOTONIC, &when));
    when = soon(CLOCK_MONOTONIC);
    CHECK(FAILS(futex(&word, FUTEX_WAIT_BITSET | private, 5, &when, NULL, 1), ETIMEDOUT));
    CHECK(has_passed(CLOCK_MONOTONIC, &when));
    when = soon(CLOCK_REALTIME);
    CHECK(FAILS(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | private, 5, &when, NULL, 1),
                ETIMEDOUT));
    CHECK(has_passed(CLOCK_REALTIME, &when));
    CHECK(FAILS(futex(&word, FUTEX_WAIT_BITSET | private, 5, &long_ago, NULL, 1), ETIMEDOUT));
}

// --- with others: a wake that counts is the sign that somebody waited

static void wake_until(uint32_t *at, int operation, long count, uint32_t bits) {
    for (long woken = 0; woken < count; sched_yield()) {
        long now = futex(at, operation | private, (uint32_t)(count - woken), NULL, NULL, bits);
        CHECK(now >= 0 && now <= count - woken);
        woken += now;
    }
}

static void *wait_plain(void *unused) {
    (void)unused;
    CHECK(futex(&word, FUTEX_WAIT | private, 5, NULL, NULL, 0) == 0);
    __atomic_fetch_add(&passed, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *wait_bits(void *bits) {
    struct timespec when = late(CLOCK_MONOTONIC);
    CHECK(futex(&word, FUTEX_WAIT_BITSET | private, 5, &when, NULL, (uint32_t)(uintptr_t)bits) ==
          0);
    __atomic_fetch_add(&passed, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void start(pthread_t *thread, void *(*function)(void *), uintptr_t argument) {
    CHECK(pthread_create(thread, NULL, function, (void *)argument) == 0);
}

static void join(pthread_t *threads, int count) {
    for (int i = 0; i < count; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void wakes(void) {
    pthread_t threads[3];
    word = 5;
    passed = 0;
    for (int i = 0; i < 3; i++)
        start(&threads[i], wait_plain, 0);
    wake_until(&word, FUTEX_WAKE, 1, 0);
    wake_until(&word, FUTEX_WAKE, 2, 0);
    join(threads, 3);
    CHECK(passed == 3);
}

static void bit_sets(void) {
    pthread_t threads[2];
    word = 5;
    passed = 0;
    start(&threads[0], wait_bits, 1);
    start(&threads[1], wait_bits, 2);
    wake_until(&word, FUTEX_WAKE_BITSET, 1, 2);
    join(&threads[1], 1);
    CHECK(passed == 1); // the other's bit was not named
    CHECK(futex(&word, FUTEX_WAKE_BITSET | private, INT_MAX, NULL, NULL, 4) == 0);
    wake_until(&word, FUTEX_WAKE_BITSET, 1, 3);
    join(threads, 1);
}

// The kernel may begin a wait again, where it was at first: seen once in a thousand runs. Our
// runtime does not.
#if defined __SANITIZE_THREAD__
#define MAY_WAIT_AGAIN false
#elif defined __has_feature
#define MAY_WAIT_AGAIN (!__has_feature(thread_sanitizer))
#else
#define MAY_WAIT_AGAIN true
#endif

static long wake_all(uint32_t *at) {
    return futex(at, FUTEX_WAKE | private, INT_MAX, NULL, NULL, 0);
}

static void requeues(void) {
    pthread_t threads[3];
    word = 5;
    other = 0;
    passed = 0;
    for (int i = 0; i < 3; i++)
        start(&threads[i], wait_plain, 0);
    for (long moved = 0; moved < 3; sched_yield()) {
        long now = futex(&word, FUTEX_CMP_REQUEUE | private, 0, (void *)INT_MAX, &other, 5);
        CHECK(now >= 0);
        moved += now;
    }
    long stayed = wake_all(&word);
    long each_way = futex(&other, FUTEX_REQUEUE | private, 1, (void *)1, &word, 0);
    long there = wake_all(&other), back = wake_all(&word);
    CHECK(MAY_WAIT_AGAIN || (stayed == 0 && each_way == 2 && there == 1 && back == 1));
    for (; __atomic_load_n(&passed, __ATOMIC_SEQ_CST) < 3; sched_yield())
        wake_all(&word), wake_all(&other);
    join(threads, 3);
    CHECK(passed == 3);
}

static void wake_with_operation(void) {
    pthread_t threads[2];
    word = 5;
    other = 10;
    start(&threads[0], wait_plain, 0);
    uint32_t add_if_greater = FUTEX_OP(FUTEX_OP_ADD, 3, FUTEX_OP_CMP_GT, 9);
    long woken = 0;
    for (int i = 1; woken == 0; i++, sched_yield()) {
        woken = futex(&word, FUTEX_WAKE_OP | private, 1, (void *)1, &other, add_if_greater);
        CHECK(woken >= 0 && other == 10u + 3u * (uint32_t)i);
    }
    CHECK(woken == 1);
    join(threads, 1);
}

// --- a lock made of it: 0 free, 1 taken, 2 taken and somebody waits

static uint32_t lock;
static int guarded;

static void take(void) {
    uint32_t seen = 0;
    if (__atomic_compare_exchange_n(&lock, &seen, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        return;
    while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE))
        futex(&lock, FUTEX_WAIT | private, 2, NULL, NULL, 0);
}

static void give(void) {
    if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
        futex(&lock, FUTEX_WAKE | private, 1, NULL, NULL, 0);
}

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 50; i++) {
        take();
        guarded++;
        give();
    }
    return NULL;
}

static void excludes(void) {
    pthread_t threads[4];
    guarded = 0;
    for (int i = 0; i < 4; i++)
        start(&threads[i], count, 0);
    join(threads, 4);
    CHECK(guarded == 200);
}

static void all(void) {
    refusals();
    times();
    wakes();
    bit_sets();
    requeues();
    wake_with_operation();
    excludes();
}

int main(void) {
    all();
    private = 0;
    all();
    return 0;
}
