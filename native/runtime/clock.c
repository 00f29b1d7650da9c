// SPDX-License-Identifier: Apache-2.0
// Virtual time: moves a little with every step and every look at it, and jumps when nobody can run.
//
// So time never depends on how fast the machine is, a loop that waits for a moment reaches it, and
// a thread that spins does not keep a sleeping one from its end.
#include "circles.h"
#include "guide.h"
#include "input.h"
#include "libc.h"
#include "own_memory.h"
#include "threads.h"

#include <errno.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOOK 1000 // nanoseconds that one look costs; a step costs one, see scheduler.c

int64_t ew_moved, ew_rested;
static struct timespec base[2], began;

int64_t ew_now(void) {
    ew_moved += LOOK;
    return ew_elapsed();
}

void ew_clock_jump(int64_t when) {
    int64_t length = when - ew_elapsed();
    if (length > 0) {
        ew_moved += length;
        ew_rested += length;
        ew_guide_rested();
    }
}

void ew_clock_start(void) {
    raw3(SYS_clock_gettime, CLOCK_REALTIME, (long)&base[0], 0);
    raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&base[1], 0);
}

// A run begins with a whole second, the next one: what a program does with the rest, such as to
// carry it into the seconds, would be other in each run.
static void round_up(struct timespec *moment) {
    moment->tv_sec += moment->tv_nsec != 0;
    moment->tv_nsec = 0;
}

void ew_clock_begin(void) {
    ew_clock_start();
    began = base[0];
    round_up(&base[0]);
    round_up(&base[1]);
    ew_input(EW_INPUT_START, base, sizeof base, sizeof base);
    ew_moved = ew_rested = 0;
}

int64_t ew_clock_began(void) {
    return ew_nanoseconds(&began);
}

int64_t ew_clock_recorded(void) {
    return ew_nanoseconds(&base[0]) - EW_SECOND;
}

static bool is_real(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
           clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI;
}

static bool is_monotonic(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME || clock == CLOCK_BOOTTIME_ALARM;
}

// Negative ones name a process or thread (bit 2), or a device by its descriptor (the lowest bits
// are 3); the others are their number, inverted. Bit 1: what it has run, as a scheduler counts it.
static clockid_t named_clock(pid_t number, int bits) {
    return (clockid_t)(~(unsigned)number << 3 | (unsigned)bits);
}

clockid_t ew_clock_of_thread(pid_t number) {
    return named_clock(number, 6);
}

static bool is_own_process(pid_t number) {
    return number == 0 || number == getpid();
}

static bool is_of_cpu(clockid_t clock) {
    if (clock >= 0 || (clock & 7) == 3)
        return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
    return clock & 4 ? ew_thread_numbered(~(clock >> 3)) != NULL : is_own_process(~(clock >> 3));
}

static const struct ew_thread *thread_of(clockid_t clock) {
    if (clock == CLOCK_THREAD_CPUTIME_ID)
        return ew_self;
    return clock < 0 && clock & 4 ? ew_thread_numbered(~(clock >> 3)) : NULL;
}

static int64_t cpu_time(clockid_t clock) {
    const struct ew_thread *thread = thread_of(clock);
    return thread ? ew_thread_time(thread) : ew_cpu_time();
}

static const struct timespec *base_of(clockid_t clock) {
    return &base[!is_real(clock)];
}

int64_t ew_deadline(clockid_t clock, const struct timespec *when) {
    int64_t moment = ew_nanoseconds(when), now = ew_elapsed();
    if (moment == EW_NEVER || when->tv_sec < 0)
        return when->tv_sec < 0 ? now : EW_NEVER;
    moment -= ew_nanoseconds(base_of(clock));
    return moment > now ? moment : now;
}

int64_t ew_deadline_in(int64_t nanoseconds) {
    int64_t now = ew_now();
    return nanoseconds == EW_NEVER ? EW_NEVER : now + nanoseconds;
}

static int ask_kernel(clockid_t clock, struct timespec *result) {
    long error = ew_input_call(SYS_clock_gettime, clock, (long)result, 0, 0, 0, 0);
    if (error == 0)
        ew_input(EW_INPUT_DATA, result, sizeof *result, sizeof *result);
    else
        errno = (int)-error;
    return error ? -1 : 0;
}

int ew_clock_look(clockid_t clock, struct timespec *result) {
    bool of_cpu = is_of_cpu(clock);
    if (!ew_running || !(is_real(clock) || is_monotonic(clock) || of_cpu))
        return ask_kernel(clock, result);
    ew_guide_looked();
    ew_circles_disturb();
    int64_t now = ew_now();
    *result = ew_timespec(of_cpu ? cpu_time(clock) : ew_nanoseconds(base_of(clock)) + now);
    return 0;
}

EW_EXPORT int clock_gettime(clockid_t clock, struct timespec *result) {
    int error = ew_clock_look(clock, result);
    if (error == 0)
        ew_touch(EW_OP_STORE, result, sizeof *result, PC);
    return error;
}

EW_EXPORT int clock_getcpuclockid(pid_t process, clockid_t *result) {
    clockid_t clock = named_clock(process, 2);
    if (!is_own_process(process) && ew_input_call(SYS_clock_getres, clock, 0, 0, 0, 0, 0) < 0)
        return ESRCH;
    *result = clock;
    return 0;
}

EW_EXPORT int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    (void)zone;
    struct timespec time;
    ew_clock_look(CLOCK_REALTIME, &time);
    __asm__("" : "+r"(result)); // which is NULL at times, whatever the header says
    if (!result)
        return 0;
    *result = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    ew_touch(EW_OP_STORE, result, sizeof *result, PC);
    return 0;
}

EW_EXPORT int timespec_get(struct timespec *result, int kind) {
    if (kind != TIME_UTC || ew_clock_look(CLOCK_REALTIME, result) != 0)
        return 0;
    ew_touch(EW_OP_STORE, result, sizeof *result, PC);
    return kind;
}

EW_EXPORT time_t time(time_t *result) {
    struct timespec now;
    ew_clock_look(CLOCK_REALTIME, &now);
    if (result) {
        *result = now.tv_sec;
        ew_touch(EW_OP_STORE, result, sizeof *result, PC);
    }
    return now.tv_sec;
}

// How the running thread sleeps, moment by moment, is no part of what it does: see fingerprint.c.
static void sleep_below(const char *sp) {
    struct ew_sleep *sleep = &ew_self->life.sleep;
    sleep->program_sp = sp;
    sleep->woken = ew_wait_cancellable(&ew_moved, sleep->until);
    sleep->program_sp = NULL;
}

static enum ew_woken sleep_once(void) {
    ew_with_registers(sleep_below);
    return (enum ew_woken)ew_self->life.sleep.woken;
}

// 0, or EINTR when a handler has run before the time was over.
static int sleep_until_it_is_time(void) {
    ew_testcancel();
    while (sleep_once() == EW_WOKEN) {
        ew_testcancel();
        if (ew_interrupted(true))
            return EINTR;
    }
    return 0;
}

// 0, or an error: there are clocks that can only be looked at.
static int is_to_sleep_by(clockid_t clock) {
    if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
        clock == CLOCK_TAI || (is_of_cpu(clock) && clock != CLOCK_THREAD_CPUTIME_ID))
        return 0;
    return is_real(clock) || is_monotonic(clock) ? EOPNOTSUPP : EINVAL;
}

EW_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                              struct timespec *left) {
    int error = is_to_sleep_by(clock);
    if (error || !ew_is_readable(request, sizeof *request))
        return error ? error : EFAULT;
    if (!ew_is_length(request))
        return EINVAL;
    int64_t length = ew_nanoseconds(request);
    struct ew_sleep *own = &ew_self->life.sleep,
                    outer = *own; // we may be in a handler of a sleeper
    own->since = ew_elapsed();
    own->until = flags & TIMER_ABSTIME ? ew_deadline(clock, request) : ew_deadline_in(length);
    error = sleep_until_it_is_time();
    if (error && left && !(flags & TIMER_ABSTIME)) {
        int64_t over = ew_elapsed() - own->since;
        *left = ew_timespec(length > over ? length - over : 0);
    }
    *own = outer;
    return error;
}

EW_EXPORT int nanosleep(const struct timespec *request, struct timespec *left) {
    return (int)ew_result(-clock_nanosleep(CLOCK_MONOTONIC, 0, request, left));
}

EW_EXPORT int usleep(useconds_t microseconds) {
    struct timespec length = ew_timespec(microseconds * 1000ll);
    return nanosleep(&length, NULL);
}

EW_EXPORT unsigned sleep(unsigned seconds) {
    struct timespec left = {seconds, 0};
    return nanosleep(&left, &left) ? (unsigned)left.tv_sec : 0;
}
