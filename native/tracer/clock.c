// SPDX-License-Identifier: Apache-2.0
// Ordered: who sleeps is not waited for. The clocks that programs ask go on by what was slept, and
// in a replay they are those of the recording. So until when a program waits, by such a clock, is
// another moment of the machine's.
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

#include "tracer.h"

enum { SECOND = 1000000000, A_REST = SECOND / 20 };

static uint64_t slept;   // nanoseconds
static uint64_t rested;  // the same, of no sleep more than A_REST: one long one is no reason to end
static int64_t ahead[2]; // nanoseconds, of what was last told of CLOCK_REALTIME and CLOCK_MONOTONIC

static bool goes_on(uint64_t clock) {
    return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock < 16;
}

static struct timespec later(struct timespec time) {
    uint64_t parts = (uint64_t)time.tv_nsec + slept;
    time.tv_sec += (time_t)(parts / SECOND);
    time.tv_nsec = (long)(parts % SECOND);
    return time;
}

// How long: until a moment of a clock that has gone on, if that is how it was asked for.
static struct timespec duration(const struct thread *thread, struct timespec asked) {
    bool by_clock = thread->call.number == SYS_clock_nanosleep;
    struct timespec now;
    if (!by_clock || !(thread->call.a1 & TIMER_ABSTIME) ||
        clock_gettime((clockid_t)thread->call.a0, &now) < 0)
        return asked;
    now = later(now);
    asked.tv_sec -= now.tv_sec;
    asked.tv_nsec -= now.tv_nsec;
    if (asked.tv_nsec < 0) {
        asked.tv_sec--;
        asked.tv_nsec += SECOND;
    }
    return asked;
}

void clock_slept(const struct thread *thread) {
    bool by_clock = thread->call.number == SYS_clock_nanosleep;
    uint64_t address = by_clock ? thread->call.a2 : thread->call.a0;
    struct timespec time;
    if (memory_read(thread->id, address, &time, sizeof time) != (ssize_t)sizeof time)
        return;
    time = duration(thread, time);
    if (time.tv_sec < 0 || time.tv_sec >= INT32_MAX)
        return;
    uint64_t length = (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
    slept += length;
    rested += length < A_REST ? length : A_REST;
}

double clock_rested(void) {
    return (double)rested / SECOND;
}

static int64_t nanoseconds(struct timespec time) {
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void note_told(uint64_t clock, struct timespec told) {
    struct timespec now;
    if (clock <= CLOCK_MONOTONIC && clock_gettime((clockid_t)clock, &now) == 0)
        ahead[clock] = nanoseconds(told) - nanoseconds(now);
}

void clock_told(const struct thread *thread, const void *given, size_t length) {
    struct timespec time;
    if (thread->call.number != SYS_clock_gettime || length != sizeof time)
        return;
    memcpy(&time, given, sizeof time);
    note_told(thread->call.a0, time);
}

// ---- until when

static bool has_deadline(uint64_t operation, uint64_t *clock) {
    uint64_t command = operation & FUTEX_CMD_MASK;
    *clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (command == FUTEX_LOCK_PI)
        *clock = CLOCK_REALTIME;
    return command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

void clock_shift(struct thread *thread, const uint64_t arguments[]) {
    struct timespec moment;
    uint64_t clock;
    if (!arguments[3] || !has_deadline(arguments[1], &clock) || !ahead[clock] ||
        memory_read(thread->id, arguments[3], &moment, sizeof moment) != (ssize_t)sizeof moment)
        return;
    int64_t real = nanoseconds(moment) - ahead[clock];
    thread->deadline = moment;
    moment = real < 0 ? (struct timespec){0} : (struct timespec){real / SECOND, real % SECOND};
    if (memory_write(thread->id, arguments[3], &moment, sizeof moment) == (ssize_t)sizeof moment)
        thread->shifted = arguments[3];
}

void clock_put_back(struct thread *thread) {
    if (thread->shifted)
        memory_write(thread->id, thread->shifted, &thread->deadline, sizeof thread->deadline);
    thread->shifted = 0;
}

bool clock_put_on(const struct thread *thread, uint64_t address) {
    struct timespec time;
    struct timeval older;
    if (!slept)
        return false;
    if (thread->call.number == SYS_clock_gettime && goes_on(thread->call.a0) &&
        memory_read(thread->id, address, &time, sizeof time) == (ssize_t)sizeof time) {
        time = later(time);
        note_told(thread->call.a0, time);
        return memory_write(thread->id, address, &time, sizeof time) == (ssize_t)sizeof time;
    }
    if (thread->call.number == SYS_gettimeofday &&
        memory_read(thread->id, address, &older, sizeof older) == (ssize_t)sizeof older) {
        time = later((struct timespec){older.tv_sec, older.tv_usec * 1000});
        older = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
        return memory_write(thread->id, address, &older, sizeof older) == (ssize_t)sizeof older;
    }
    return false;
}

// ---- answers

static bool several_times; // some may be in another namespace of times than the tracer

void clock_other_times(void) {
    several_times = true;
}

// Those clocks say the same to all.
bool clock_answers(struct thread *thread) {
    const size_t size = sizeof thread->told;
    uint64_t clock = thread->call.a0;
    thread->answered =
        thread->call.number == SYS_clock_gettime && goes_on(clock) && !several_times &&
        clock_gettime((clockid_t)clock, &thread->told) == 0 &&
        memory_write(thread->id, thread->call.a1, &thread->told, size) == (ssize_t)size &&
        stop_skip(thread->id, 0) == 0;
    return thread->answered;
}

int64_t clock_seconds(int64_t seconds) {
    return seconds + (int64_t)(slept / SECOND);
}
