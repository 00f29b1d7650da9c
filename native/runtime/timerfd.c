// SPDX-License-Identifier: Apache-2.0
// timerfd: an eventfd to the kernel, which counts, is read, polled and copied as one; we decide
// when it becomes ready.
//
// A process that is forked has it too, and either may be the one that is left. So both know when it
// expires next, and whose clock comes there first lets it.
#include "channels.h"
#include "descriptors.h"
#include "input.h"
#include "polling.h"
#include "timers.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

struct common { // to all processes that have it
    int64_t expiry, interval;
};

struct timer {
    struct ew_timer timer;
    uint32_t number; // of the eventfd, whichever descriptor leads to it; 0: free
    int descriptor;  // one that did
    clockid_t clock;
    int64_t awaited; // the expiry that this process knows of
    struct common *common;
};

#define TIMERS 65536 // reserved, not used
static struct timer *timers;
static uint32_t timer_count; // that were ever used
static struct common *commons;

static bool leads_to(int descriptor, const struct timer *timer) {
    return ew_number_of(descriptor) == timer->number;
}

static int descriptor_of(struct timer *timer) {
    if (!leads_to(timer->descriptor, timer))
        timer->descriptor = ew_descriptor_numbered(timer->number);
    return timer->descriptor;
}

// --- what the processes know of each other

static bool is_shared(const struct timer *timer) {
    return ew_is_outside(timer->descriptor);
}

static void publish(struct timer *timer) {
    __atomic_store_n(&timer->common->interval, timer->timer.interval, __ATOMIC_RELAXED);
    __atomic_store_n(&timer->common->expiry, timer->timer.expiry, __ATOMIC_RELEASE);
    timer->awaited = timer->timer.expiry;
}

// As another process has set it, or as it is after it has let it expire.
static void adopt(struct timer *timer) {
    struct common now = {__atomic_load_n(&timer->common->expiry, __ATOMIC_ACQUIRE),
                         __atomic_load_n(&timer->common->interval, __ATOMIC_RELAXED)};
    if (is_shared(timer))
        ew_input(EW_INPUT_DATA, &now, sizeof now, sizeof now);
    ew_timer_arm(&timer->timer, now.expiry, now.interval);
    timer->awaited = now.expiry;
}

static bool is_first(struct timer *timer) {
    int64_t known = timer->awaited;
    long first = __atomic_compare_exchange_n(&timer->common->expiry, &known, timer->timer.expiry,
                                             false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (is_shared(timer))
        ew_input(EW_INPUT_RESULT, &first, sizeof first, sizeof first);
    timer->awaited = timer->timer.expiry;
    return first;
}

void ew_timerfds_forked(void) {
    commons = NULL; // new ones are its own
    for (uint32_t i = 0; i < timer_count; i++)
        if (timers[i].number)
            ew_timer_arm(&timers[i].timer, timers[i].awaited, timers[i].timer.interval);
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
    if (is_first(timer)) {
        raw3(SYS_write, descriptor, (long)&times, sizeof times);
        ew_look_within();
    } else {
        adopt(timer);
    }
}

static struct timer *unused(void) {
    if (!timers)
        timers = ew_pages(TIMERS * sizeof *timers);
    if (!commons)
        commons = ew_shared_pages(TIMERS * sizeof *commons);
    uint32_t i = 0;
    while (i < timer_count && timers[i].number && descriptor_of(&timers[i]) >= 0)
        i++;
    if (i == TIMERS)
        return NULL;
    if (i == timer_count)
        timers[timer_count++].timer.expiry = EW_NEVER;
    ew_timer_disarm(&timers[i].timer);
    timers[i] = (struct timer){.timer = {.expiry = EW_NEVER, .expired = expired},
                               .awaited = EW_NEVER,
                               .common = &commons[i]};
    commons[i] = (struct common){EW_NEVER, 0};
    return &timers[i];
}

static bool is_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM;
}

_Static_assert(TFD_NONBLOCK == EFD_NONBLOCK && TFD_CLOEXEC == EFD_CLOEXEC, "handed on as they are");

EW_EXPORT int timerfd_create(clockid_t clock, int flags) {
    if (!is_clock(clock) || flags & ~(TFD_NONBLOCK | TFD_CLOEXEC))
        return (int)ew_result(-EINVAL);
    struct timer *timer = unused();
    if (!timer)
        return (int)ew_result(-ENFILE);
    long descriptor = raw3(SYS_eventfd2, 0, flags, 0);
    if (descriptor < 0)
        return (int)ew_result(descriptor);
    ew_numbered_within((int)descriptor);
    timer->number = ew_number_of((int)descriptor);
    timer->descriptor = (int)descriptor;
    timer->clock = clock;
    return (int)descriptor;
}

static struct timer *find(int descriptor) {
    uint32_t number = ew_number_of(descriptor);
    for (uint32_t i = 0; number && i < timer_count; i++)
        if (timers[i].number == number)
            return &timers[i];
    return NULL;
}

bool ew_is_timerfd(int descriptor) {
    return find(descriptor) != NULL;
}

// Sets errno for what is none.
static struct timer *timer_of(int descriptor) {
    struct timer *timer = find(descriptor);
    if (timer)
        return timer;
    struct pollfd one = {descriptor, 0, 0};
    ew_poll_now(&one, 1);
    errno = descriptor < 0 || one.revents & POLLNVAL ? EBADF : EINVAL;
    return NULL;
}

// Expirations that nobody has read count no more.
static void drain(int descriptor) {
    struct pollfd one = {descriptor, POLLIN, 0};
    uint64_t count;
    if (ew_poll_now(&one, 1) == 1)
        raw3(SYS_read, descriptor, (long)&count, sizeof count);
}

EW_EXPORT int timerfd_settime(int descriptor, int flags, const struct itimerspec *new,
                              struct itimerspec *old) {
    struct timer *timer = timer_of(descriptor);
    if (!timer)
        return -1;
    if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) || !ew_is_timer_setting(new))
        return (int)ew_result(-EINVAL);
    ew_point(EW_WHY_SYNC);
    if (old)
        ew_timer_show(&timer->timer, old);
    drain(descriptor);
    ew_channel_put(descriptor, PC);
    timer->descriptor = descriptor;
    ew_timer_set(&timer->timer, timer->clock, flags & TFD_TIMER_ABSTIME, new);
    publish(timer);
    ew_timers_set();
    return 0;
}

EW_EXPORT int timerfd_gettime(int descriptor, struct itimerspec *result) {
    struct timer *timer = timer_of(descriptor);
    if (!timer)
        return -1;
    adopt(timer);
    ew_timer_show(&timer->timer, result);
    return 0;
}
