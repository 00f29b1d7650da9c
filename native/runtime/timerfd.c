// SPDX-License-Identifier: Apache-2.0
// timerfd: an eventfd to the kernel, which counts, is read, polled and copied as one; we decide
// when it becomes ready.
#include "descriptors.h"
#include "timers.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

struct timer {
    struct ew_timer timer;
    uint32_t number; // of the eventfd, whichever descriptor leads to it; 0: free
    int descriptor;  // one that did
    clockid_t clock;
};

#define TIMERS 65536 // reserved, not used
static struct timer *timers;
static uint32_t timer_count; // that were ever used

static int fail(int error) {
    errno = error;
    return -1;
}

static bool leads_to(int descriptor, const struct timer *timer) {
    return ew_number_of(descriptor) == timer->number;
}

#define COPIES 4096 // descriptors that are looked at for one that was copied

static int descriptor_of(struct timer *timer) {
    for (int i = 0; i < COPIES && !leads_to(timer->descriptor, timer); i++)
        if (leads_to(i, timer))
            timer->descriptor = i;
    return leads_to(timer->descriptor, timer) ? timer->descriptor : -1;
}

// When the last descriptor is closed the kernel's is gone; ours notices it when it expires.
static void expired(struct ew_timer *base, uint64_t times) {
    struct timer *timer = (struct timer *)base;
    int descriptor = descriptor_of(timer);
    if (descriptor < 0) {
        ew_timer_disarm(base);
        timer->number = 0;
        return;
    }
    raw3(SYS_write, descriptor, (long)&times, sizeof times);
    ew_look_within();
}

static struct timer *unused(void) {
    if (!timers)
        timers = ew_pages(TIMERS * sizeof *timers);
    uint32_t i = 0;
    while (i < timer_count && timers[i].number && descriptor_of(&timers[i]) >= 0)
        i++;
    if (i == TIMERS)
        return NULL;
    if (i == timer_count)
        timers[timer_count++].timer.expiry = EW_NEVER;
    ew_timer_disarm(&timers[i].timer);
    timers[i] = (struct timer){.timer = {.expiry = EW_NEVER, .expired = expired}};
    return &timers[i];
}

static bool is_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
}

_Static_assert(TFD_NONBLOCK == EFD_NONBLOCK && TFD_CLOEXEC == EFD_CLOEXEC, "handed on as they are");

EW_EXPORT int timerfd_create(clockid_t clock, int flags) {
    if (!is_clock(clock) || flags & ~(TFD_NONBLOCK | TFD_CLOEXEC))
        return fail(EINVAL);
    struct timer *timer = unused();
    if (!timer)
        return fail(ENFILE);
    long descriptor = raw3(SYS_eventfd2, 0, flags, 0);
    if (descriptor < 0)
        return fail((int)-descriptor);
    ew_numbered_within((int)descriptor);
    timer->number = ew_number_of((int)descriptor);
    timer->descriptor = (int)descriptor;
    timer->clock = clock;
    return (int)descriptor;
}

// Sets errno for what is none.
static struct timer *timer_of(int descriptor) {
    uint32_t number = ew_number_of(descriptor);
    for (uint32_t i = 0; number && i < timer_count; i++)
        if (timers[i].number == number)
            return &timers[i];
    struct pollfd one = {descriptor, 0, 0};
    raw3(SYS_poll, (long)&one, 1, 0);
    fail(descriptor < 0 || one.revents & POLLNVAL ? EBADF : EINVAL);
    return NULL;
}

// Expirations that nobody has read count no more.
static void drain(int descriptor) {
    struct pollfd one = {descriptor, POLLIN, 0};
    uint64_t count;
    if (raw3(SYS_poll, (long)&one, 1, 0) == 1)
        raw3(SYS_read, descriptor, (long)&count, sizeof count);
}

EW_EXPORT int timerfd_settime(int descriptor, int flags, const struct itimerspec *new,
                              struct itimerspec *old) {
    struct timer *timer = timer_of(descriptor);
    if (!timer)
        return -1;
    if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) || !ew_is_timer_setting(new))
        return fail(EINVAL);
    ew_point(EW_WHY_SYNC);
    if (old)
        ew_timer_show(&timer->timer, old);
    drain(descriptor);
    timer->descriptor = descriptor;
    ew_timer_set(&timer->timer, timer->clock, flags & TFD_TIMER_ABSTIME, new);
    ew_timers_set();
    return 0;
}

EW_EXPORT int timerfd_gettime(int descriptor, struct itimerspec *result) {
    const struct timer *timer = timer_of(descriptor);
    if (!timer)
        return -1;
    ew_timer_show(&timer->timer, result);
    return 0;
}
