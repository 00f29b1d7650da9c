// SPDX-License-Identifier: Apache-2.0
// Virtual time: moves a little with every step and every look at it, and jumps when nobody can run.
//
// So time never depends on how fast the machine is, a loop that waits for a moment reaches it, and
// a thread that spins does not keep a sleeping one from its end.
#include "guide.h"
#include "input.h"

#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOOK 1000 // nanoseconds that one look costs; a step costs one, see scheduler.c

static int64_t moved;  // since the start of the run, beside the steps
static int64_t rested; // of it: nobody ran
static struct timespec base[2];

static int64_t nanoseconds(const struct timespec *time) {
    return time->tv_sec * 1000000000ll + time->tv_nsec;
}

int64_t ew_elapsed(void) {
    return moved + (int64_t)ew_step_number();
}

int64_t ew_cpu_time(void) {
    return ew_elapsed() - rested;
}

void ew_clock_pass(int64_t nanoseconds) {
    moved += nanoseconds;
}

int64_t ew_now(void) {
    moved += LOOK;
    return ew_elapsed();
}

void ew_clock_jump(int64_t when) {
    int64_t length = when - ew_elapsed();
    if (length > 0) {
        moved += length;
        rested += length;
    }
}

void ew_clock_start(void) {
    raw3(SYS_clock_gettime, CLOCK_REALTIME, (long)&base[0], 0);
    raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&base[1], 0);
}

void ew_clock_begin(void) {
    ew_clock_start();
    ew_input(EW_INPUT_START, base, sizeof base, sizeof base);
    moved = rested = 0;
}

static bool is_real(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
           clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

static bool is_monotonic(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM;
}

// Negative ones name a process or thread, or a device by its descriptor (the lowest bits are 3).
// What one thread has used is told as what all have.
static bool is_of_cpu(clockid_t clock) {
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID ||
           (clock < 0 && (clock & 7) != 3);
}

static const struct timespec *base_of(clockid_t clock) {
    return &base[!is_real(clock)];
}

#define FAR 4000000000 // seconds: nobody will see that moment, and nanoseconds might overflow

int64_t ew_deadline(clockid_t clock, const struct timespec *when) {
    if (when->tv_sec > FAR)
        return EW_NEVER;
    if (when->tv_sec < 0)
        return ew_elapsed();
    int64_t deadline = nanoseconds(when) - nanoseconds(base_of(clock));
    return deadline > ew_elapsed() ? deadline : ew_elapsed();
}

int64_t ew_deadline_in(const struct timespec *length) {
    return length->tv_sec > FAR ? EW_NEVER : ew_now() + nanoseconds(length);
}

static int ask_kernel(clockid_t clock, struct timespec *result) {
    long error = ew_input_call(SYS_clock_gettime, clock, (long)result, 0, 0, 0, 0);
    if (error == 0)
        ew_input(EW_INPUT_DATA, result, sizeof *result, sizeof *result);
    else
        errno = (int)-error;
    return error ? -1 : 0;
}

EW_EXPORT int clock_gettime(clockid_t clock, struct timespec *result) {
    bool of_cpu = is_of_cpu(clock);
    if (!ew_running || !(is_real(clock) || is_monotonic(clock) || of_cpu))
        return ask_kernel(clock, result);
    ew_guide_looked();
    int64_t now = ew_now();
    int64_t time = of_cpu ? ew_cpu_time() : nanoseconds(base_of(clock)) + now;
    *result = (struct timespec){time / 1000000000, time % 1000000000};
    return 0;
}

EW_EXPORT int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    *result = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}

EW_EXPORT int timespec_get(struct timespec *result, int kind) {
    return kind == TIME_UTC && clock_gettime(CLOCK_REALTIME, result) == 0 ? kind : 0;
}

EW_EXPORT time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result)
        *result = now.tv_sec;
    return now.tv_sec;
}

// 0, or EINTR when a handler has run before the time was over.
static int sleep_until(int64_t deadline) {
    ew_testcancel();
    while (ew_wait_cancellable(&moved, deadline) == EW_WOKEN) {
        ew_testcancel();
        if (ew_interrupted(true))
            return EINTR;
    }
    return 0;
}

static struct timespec time_until(int64_t deadline) {
    int64_t left = deadline > ew_elapsed() ? deadline - ew_elapsed() : 0;
    return (struct timespec){left / 1000000000, left % 1000000000};
}

EW_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                              struct timespec *left) {
    if (request->tv_nsec < 0 || request->tv_nsec > 999999999)
        return EINVAL;
    int64_t deadline =
        flags & TIMER_ABSTIME ? ew_deadline(clock, request) : ew_now() + nanoseconds(request);
    int error = sleep_until(deadline);
    if (error && left && !(flags & TIMER_ABSTIME))
        *left = time_until(deadline);
    return error;
}

EW_EXPORT int nanosleep(const struct timespec *request, struct timespec *left) {
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, request, left);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

EW_EXPORT int usleep(useconds_t microseconds) {
    int error = sleep_until(ew_now() + microseconds * 1000ll);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

EW_EXPORT unsigned sleep(unsigned seconds) {
    int64_t deadline = ew_now() + seconds * 1000000000ll;
    return sleep_until(deadline) ? (unsigned)time_until(deadline + 500000000).tv_sec : 0;
}
