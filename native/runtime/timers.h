// SPDX-License-Identifier: Apache-2.0
// Timers of the virtual clock, which take the place of the kernel's: what the families share.
#ifndef EITHERWAY_TIMERS_H
#define EITHERWAY_TIMERS_H

#include "runtime.h"

#include <signal.h>
#include <time.h>

struct ew_timer {
    int64_t expiry;   // on its clock; EW_NEVER: not armed
    int64_t interval; // 0: once
    bool on_cpu;      // its clock goes only while threads run
    // It has expired so many times since it was last heard of.
    void (*expired)(struct ew_timer *timer, uint64_t times);
    uint64_t fired_idle; // the step at which it last expired while nobody could run, + 1
    struct ew_timer *next, *previous; // of those that are armed
};

// When it expires next, as long from now; 0: never. And how often from then on.
struct ew_setting {
    int64_t value, interval;
};

void ew_timer_arm(struct ew_timer *timer, int64_t expiry, int64_t interval);
void ew_timer_disarm(struct ew_timer *timer);
void ew_timers_set(void); // one was, perhaps to a moment that is past: it expires at once
struct ew_setting ew_timer_left(const struct ew_timer *timer);
int64_t ew_timer_now(const struct ew_timer *timer); // on its clock
// The same in the words of timer_settime and timerfd_settime.
bool ew_is_timer_setting(const struct itimerspec *setting);
void ew_timer_set(struct ew_timer *timer, clockid_t clock, bool absolute,
                  const struct itimerspec *setting);
void ew_timer_show(const struct ew_timer *timer, struct itimerspec *result);

// --- for the scheduler

// The next expiry on the virtual clock. While nobody can run, a timer that has expired since and
// let nobody go on is left out: it would for ever.
int64_t ew_timers_next(bool idle);
void ew_timers_expire(bool idle); // those that are due

// --- itimers.c: an alarm outlives an exec, which knows real time only
void ew_alarm_show(void);
void ew_alarm_hide(void);

// --- posix_timers.c
void ew_timer_signal_taken(int id, int overrun); // by the thread that it was for
void ew_posix_timers_forked(void);

// --- timerfd.c
bool ew_is_timerfd(int descriptor);
void ew_timerfds_forked(void); // these go on

// --- timer_threads.c: SIGEV_THREAD
struct ew_timer_call {
    void (*function)(union sigval);
    union sigval value;
    size_t stack_size, guard_size; // 0: as usual
    const void *timer;             // what arming it is told as
    bool is_due;
    struct ew_timer_call *next; // of those that are due
};

int ew_timer_threads_start(void);               // 0 or an error of pthread_create
bool ew_timer_call(struct ew_timer_call *call); // false: the last one is not started yet
void ew_timer_call_cancel(struct ew_timer_call *call);
void ew_timer_threads_forked(void);

void ew_timers_forked(void); // in the child there are no others

#endif
