// SPDX-License-Identifier: Apache-2.0
// Timers of the virtual clock: armed ones in a list, and those that are due expire.
#include "timers.h"
#include "threads.h"

static struct ew_timer *armed; // in the order in which they were

int64_t ew_timer_now(const struct ew_timer *timer) {
    return timer->on_cpu ? ew_cpu_time() : ew_elapsed();
}

// A timer of CPU time expires when it would if nobody rested from now on.
static int64_t due_at(const struct ew_timer *timer) {
    if (timer->expiry == EW_NEVER || !timer->on_cpu)
        return timer->expiry;
    return timer->expiry + (ew_elapsed() - ew_cpu_time());
}

void ew_timer_disarm(struct ew_timer *timer) {
    if (timer->expiry == EW_NEVER)
        return;
    timer->expiry = EW_NEVER;
    *(timer->previous ? &timer->previous->next : &armed) = timer->next;
    if (timer->next)
        timer->next->previous = timer->previous;
}

static void add(struct ew_timer *timer) {
    struct ew_timer **end = &armed, *last = NULL;
    for (; *end; end = &(*end)->next)
        last = *end;
    *end = timer;
    timer->previous = last;
    timer->next = NULL;
}

void ew_timer_arm(struct ew_timer *timer, int64_t expiry, int64_t interval) {
    ew_timer_disarm(timer);
    timer->interval = interval;
    if (expiry == EW_NEVER)
        return;
    add(timer);
    timer->expiry = expiry;
    timer->fired_idle = 0;
    ew_due(due_at(timer));
}

struct ew_setting ew_timer_left(const struct ew_timer *timer) {
    int64_t now = ew_timer_now(timer), left = timer->expiry - now;
    if (timer->expiry == EW_NEVER)
        return (struct ew_setting){0, timer->interval};
    if (left <= 0 && timer->interval)
        left += (-left / timer->interval + 1) * timer->interval;
    return (struct ew_setting){left > 0 ? left : 1, timer->interval};
}

void ew_timers_set(void) {
    if (ew_timers_next(false) > ew_elapsed())
        return;
    ew_timers_expire(false);
    if (ew_self->life.attention)
        ew_attend(false);
}

// --- in the words of timer_settime

bool ew_is_timer_setting(const struct itimerspec *setting) {
    return ew_is_length(&setting->it_value) && ew_is_length(&setting->it_interval);
}

// So long a time is nothing that anybody sees the end of.
static int64_t nanoseconds(const struct timespec *length) {
    int64_t value = ew_nanoseconds(length);
    return value == EW_NEVER ? EW_NEVER / 2 : value;
}

static struct timespec timespec_of(int64_t nanoseconds) {
    return (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
}

void ew_timer_set(struct ew_timer *timer, clockid_t clock, bool absolute,
                  const struct itimerspec *setting) {
    int64_t value = nanoseconds(&setting->it_value), expiry = value;
    if (value == 0)
        expiry = EW_NEVER;
    else if (!absolute)
        expiry = ew_timer_now(timer) + value;
    else if (!timer->on_cpu)
        expiry = ew_deadline(clock, &setting->it_value);
    ew_timer_arm(timer, expiry, nanoseconds(&setting->it_interval));
}

void ew_timer_show(const struct ew_timer *timer, struct itimerspec *result) {
    struct ew_setting left = ew_timer_left(timer);
    result->it_value = timespec_of(left.value);
    result->it_interval = timespec_of(left.interval);
}

// --- for the scheduler

static bool is_fruitless(const struct ew_timer *timer) {
    return timer->on_cpu || timer->fired_idle == ew_steps + 1;
}

int64_t ew_timers_next(bool idle) {
    int64_t first = EW_NEVER;
    for (const struct ew_timer *timer = armed; timer; timer = timer->next)
        if (due_at(timer) < first && !(idle && is_fruitless(timer)))
            first = due_at(timer);
    return first;
}

static void expire(struct ew_timer *timer, bool idle) {
    uint64_t times = 1;
    int64_t late = ew_timer_now(timer) - timer->expiry;
    if (idle)
        timer->fired_idle = ew_steps + 1;
    if (timer->interval) {
        times += (uint64_t)(late / timer->interval);
        timer->expiry += (int64_t)times * timer->interval;
    } else {
        ew_timer_disarm(timer);
    }
    timer->expired(timer, times);
}

static struct ew_timer *first_due(void) {
    struct ew_timer *first = NULL;
    for (struct ew_timer *timer = armed; timer; timer = timer->next)
        if (timer->expiry <= ew_timer_now(timer) && (!first || due_at(timer) < due_at(first)))
            first = timer;
    return first;
}

void ew_timers_expire(bool idle) {
    for (struct ew_timer *timer; (timer = first_due());)
        expire(timer, idle);
}

void ew_timers_forked(void) {
    while (armed)
        ew_timer_disarm(armed);
    ew_posix_timers_forked();
    ew_timer_threads_forked();
    ew_timerfds_forked();
}
