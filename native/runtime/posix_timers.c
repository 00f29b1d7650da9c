// SPDX-License-Identifier: Apache-2.0
// timer_create and its kin.
#include "channels.h"
#include "signals.h"
#include "sync.h"
#include "timers.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct posix_timer {
    struct ew_timer timer;
    int id;
    bool used;
    clockid_t clock;
    int notify, signal, thread;
    union sigval value;
    int overrun; // of the signal that was taken last
    struct ew_timer_call call;
};

#define TIMERS 65536 // reserved, not used
static struct posix_timer *timers;
static int timer_count; // ids that were ever used

static struct posix_timer *timer_of(timer_t handle) {
    intptr_t id = (intptr_t)handle;
    return id >= 0 && id < timer_count && timers[id].used ? &timers[id] : NULL;
}

// --- expiry

static int capped(uint64_t count) {
    return count < INT_MAX ? (int)count : INT_MAX;
}

static void send(struct posix_timer *timer, uint64_t times) {
    struct ew_thread *thread = NULL;
    if (timer->notify == SIGEV_THREAD_ID && !(thread = ew_thread_numbered(timer->thread)))
        return;
    siginfo_t *waiting = ew_signal_of_timer(thread, timer->id);
    if (waiting) {
        waiting->si_overrun = capped((uint64_t)waiting->si_overrun + times);
        return;
    }
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = timer->signal;
    info.si_code = SI_TIMER;
    info.si_timerid = timer->id;
    info.si_overrun = capped(times - 1);
    info.si_value = timer->value;
    ew_signal_from_timer(thread, &info);
}

static void expired(struct ew_timer *base, uint64_t times) {
    struct posix_timer *timer = (struct posix_timer *)base;
    if (timer->notify == SIGEV_THREAD)
        timer->overrun = ew_timer_call(&timer->call) ? capped(times - 1)
                                                     : capped((uint64_t)timer->overrun + times);
    else if (timer->notify != SIGEV_NONE)
        send(timer, times);
}

void ew_timer_signal_taken(int id, int overrun) {
    if (id >= 0 && id < timer_count)
        timers[id].overrun = overrun;
}

void ew_posix_timers_forked(void) {
    timer_count = 0;
}

// --- create and delete

static bool is_clock(clockid_t clock) {
    return clock < 0 || clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
           clock == CLOCK_BOOTTIME || clock == CLOCK_TAI || clock == CLOCK_REALTIME_ALARM ||
           clock == CLOCK_BOOTTIME_ALARM || clock == CLOCK_PROCESS_CPUTIME_ID ||
           clock == CLOCK_THREAD_CPUTIME_ID;
}

static bool is_of_cpu(clockid_t clock) {
    return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

static bool is_event(const struct sigevent *event) {
    switch (event->sigev_notify) {
    case SIGEV_NONE:
    case SIGEV_THREAD:
        return true;
    case SIGEV_THREAD_ID:
        return ew_signal_is_valid(event->sigev_signo) &&
               ew_thread_numbered(event->_sigev_un._tid) != NULL;
    case SIGEV_SIGNAL:
        return ew_signal_is_valid(event->sigev_signo);
    default:
        return false;
    }
}

static struct posix_timer *unused(void) {
    if (!timers)
        timers = ew_pages(TIMERS * sizeof *timers);
    int id = 0;
    while (id < timer_count && timers[id].used)
        id++;
    if (id == TIMERS)
        return NULL;
    timer_count = id == timer_count ? id + 1 : timer_count;
    timers[id] = (struct posix_timer){.timer = {.expiry = EW_NEVER, .expired = expired}, .id = id};
    return &timers[id];
}

static void take_attributes(struct ew_timer_call *call, const pthread_attr_t *attributes) {
    if (!attributes)
        return;
    pthread_attr_getstacksize(attributes, &call->stack_size);
    pthread_attr_getguardsize(attributes, &call->guard_size);
}

EW_EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *handle) {
    struct sigevent usual = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    if (!is_clock(clock) || (event && !is_event(event)))
        return (int)ew_result(-EINVAL);
    int error = event && event->sigev_notify == SIGEV_THREAD ? ew_timer_threads_start() : 0;
    struct posix_timer *timer = error ? NULL : unused();
    if (!timer)
        return (int)ew_result(-EAGAIN);
    if (!event)
        usual.sigev_value.sival_int = timer->id;
    const struct sigevent *of = event ? event : &usual;
    timer->used = true;
    timer->clock = clock;
    timer->timer.on_cpu = is_of_cpu(clock);
    timer->notify = of->sigev_notify;
    timer->signal = of->sigev_signo;
    timer->value = of->sigev_value;
    if (timer->notify == SIGEV_THREAD_ID)
        timer->thread = of->_sigev_un._tid;
    if (timer->notify == SIGEV_THREAD) {
        timer->call = (struct ew_timer_call){
            .function = of->sigev_notify_function, .value = of->sigev_value, .timer = timer};
        take_attributes(&timer->call, of->sigev_notify_attributes);
    }
    *handle = (timer_t)(intptr_t)timer->id;
    return 0;
}

EW_EXPORT int timer_delete(timer_t handle) {
    struct posix_timer *timer = timer_of(handle);
    if (!timer)
        return (int)ew_result(-EINVAL);
    ew_point(EW_WHY_SYNC);
    ew_timer_disarm(&timer->timer);
    ew_timer_call_cancel(&timer->call);
    timer->used = false;
    return 0;
}

// --- set and ask

EW_EXPORT int timer_gettime(timer_t handle, struct itimerspec *result) {
    struct posix_timer *timer = timer_of(handle);
    if (!timer)
        return (int)ew_result(-EINVAL);
    ew_timer_show(&timer->timer, result);
    return 0;
}

EW_EXPORT int timer_settime(timer_t handle, int flags, const struct itimerspec *restrict new,
                            struct itimerspec *restrict old) {
    struct posix_timer *timer = timer_of(handle);
    if (!timer || !new || !ew_is_timer_setting(new))
        return (int)ew_result(-EINVAL);
    ew_point(EW_WHY_SYNC);
    if (old)
        ew_timer_show(&timer->timer, old);
    if (UNLIKELY(ew_watched) && timer->notify == SIGEV_THREAD)
        ew_tell(EW_OP_WAKE, EW_FLAG_CUMULATIVE, timer, 1, PC);
    else
        ew_signal_sent(timer->signal, PC);
    timer->overrun = 0;
    ew_timer_set(&timer->timer, timer->clock, flags & TIMER_ABSTIME, new);
    ew_timers_set();
    return 0;
}

EW_EXPORT int timer_getoverrun(timer_t handle) {
    const struct posix_timer *timer = timer_of(handle);
    return timer ? timer->overrun : (int)ew_result(-EINVAL);
}
