// SPDX-License-Identifier: Apache-2.0
// Ordered: who waits for a timer that sends a signal is not waited for either. When nobody can go
// but those that sleep for longer, time goes on until it is due, and its signal is sent. Only where
// nobody outside could wake one before: else all wait for the kernel's timer. So it is with timers
// that one thread alone is told of: it may take the signal with a call that nobody can tell it
// from.
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

enum { TIMERS_MAX = 64, SECOND = 1000000000, INTERVAL = -1 };
#define NEVER INT64_MAX

struct timer {
    pid_t process; // 0: none
    int number;    // that the kernel gave it, or INTERVAL
    int signal;
    uint64_t value;  // that comes with it
    int64_t due;     // nanoseconds, of the machine's clock put on by those that nobody waited for
    int64_t again;   // so long after that, each time; 0: it goes off once
    unsigned ahead;  // times it was sent: what the kernel's timer sends later is left out
    bool on_its_way; // the last of them
    uint64_t passed; // calls when it was last sent: it need not be sent again before one is made
};

static struct timer timers[TIMERS_MAX];
static int64_t passed;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec + passed;
}

// ---- set

static struct timer *place_of(pid_t process, int number) {
    struct timer *place = NULL;
    for (struct timer *timer = timers; timer < timers + TIMERS_MAX; timer++)
        if (timer->process == process && timer->number == number)
            return timer;
        else if (!timer->process || !thread_find(timer->process))
            place = timer;
    return place;
}

struct kind {
    int signal; // 0: not to the process
    uint64_t value;
    int clock;
};

// Of /proc/PID/timers: "ID: 0", "signal: 14/0000000000000000", "notify: signal/pid.7" and then
// "ClockID: 1".
static struct kind kind_of(pid_t process, int number) {
    char path[64], line[128];
    int id = -1;
    struct kind read = {0}, found = {0};
    snprintf(path, sizeof path, "/proc/%d/timers", (int)process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "ID: %d", &id) == 1)
            read = (struct kind){0};
        sscanf(line, "signal: %d/%lx", &read.signal, &read.value);
        if (strncmp(line, "notify: ", 8) == 0 && strncmp(line, "notify: signal/pid.", 19) != 0)
            read.signal = 0;
        if (sscanf(line, "ClockID: %d", &read.clock) == 1 && id == number)
            found = read;
    }
    if (file)
        fclose(file);
    return found;
}

static int64_t length_of(struct timespec time) {
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void set(pid_t process, int number, struct kind kind, int64_t length, int64_t again) {
    struct timer *timer = place_of(process, number);
    if (timer && length > 0 && kind.signal)
        *timer = (struct timer){.process = process,
                                .number = number,
                                .signal = kind.signal,
                                .value = kind.value,
                                .due = now() + length,
                                .again = again,
                                .passed = UINT64_MAX};
    else if (timer)
        timer->process = 0;
}

static void set_alarm(const struct thread *thread, int64_t length, int64_t again) {
    set(thread->process, INTERVAL, (struct kind){.signal = SIGALRM}, length, again);
}

static void set_interval(const struct thread *thread, uint64_t address) {
    struct itimerval asked = {0};
    memory_read(thread->id, address, &asked, sizeof asked);
    set_alarm(
        thread, length_of((struct timespec){asked.it_value.tv_sec, asked.it_value.tv_usec * 1000}),
        length_of((struct timespec){asked.it_interval.tv_sec, asked.it_interval.tv_usec * 1000}));
}

// Until a moment of a clock: of the machine's it is another one. One that is over comes at once.
static void set_timer(struct thread *thread, const uint64_t arguments[]) {
    struct itimerspec asked = {0};
    int number = (int)arguments[0];
    struct kind kind = kind_of(thread->process, number);
    memory_read(thread->id, arguments[2], &asked, sizeof asked);
    int64_t length = length_of(asked.it_value);
    if (length && arguments[1] & TIMER_ABSTIME) {
        length = clock_until((uint64_t)kind.clock, asked.it_value);
        clock_shift_to(thread, arguments[2] + offsetof(struct itimerspec, it_value),
                       (uint64_t)kind.clock);
    }
    set(thread->process, number, kind, length, length_of(asked.it_interval));
}

void timers_notice(struct thread *thread, const struct entry *entry) {
    if (!gate_is_ordered())
        return;
    if (entry->number == SYS_alarm)
        set_alarm(thread, (int64_t)(unsigned)entry->arguments[0] * SECOND, 0);
    else if (entry->number == SYS_setitimer && entry->arguments[0] == ITIMER_REAL)
        set_interval(thread, entry->arguments[1]);
    else if (entry->number == SYS_timer_settime)
        set_timer(thread, entry->arguments);
}

void timers_executed(pid_t process) {
    for (struct timer *timer = timers; timer < timers + TIMERS_MAX; timer++)
        if (timer->process == process && timer->number != INTERVAL)
            timer->process = 0;
}

// ---- due

// One that goes off again when nobody has made a call would go on for ever.
static bool may_come(const struct timer *timer) {
    return timer->process && timer->due != NEVER && timer->passed != gate_passed() &&
           thread_find(timer->process);
}

struct timer *timers_next(pid_t process) {
    struct timer *next = NULL;
    for (struct timer *timer = timers; timer < timers + TIMERS_MAX; timer++)
        if (may_come(timer) && (!process || timer->process == process) &&
            (!next || timer->due < next->due))
            next = timer;
    return next;
}

static void went_off(struct timer *timer) {
    timer->due = timer->again ? timer->due + timer->again : NEVER;
}

pid_t timer_process(const struct timer *timer) {
    return timer->process;
}

int64_t timer_left(const struct timer *timer) {
    return timer->due - now();
}

void timers_pass(int64_t nanoseconds) {
    passed += nanoseconds;
}

void timer_send(struct timer *timer) {
    int64_t left = timer_left(timer);
    if (left > 0) {
        timers_pass(left);
        clock_skip((uint64_t)left);
    }
    went_off(timer);
    timer->ahead++;
    timer->on_its_way = true;
    timer->passed = gate_passed();
    kill(timer->process, timer->signal);
    signals_to(timer->process);
}

static struct timer *on_its_way(pid_t process, int signal) {
    for (struct timer *timer = timers; timer < timers + TIMERS_MAX; timer++)
        if (timer->process == process && timer->on_its_way && timer->signal == signal)
            return timer;
    return NULL;
}

// To the program it is the kernel that sends it.
static void tell_as_of_kernel(const struct thread *thread, siginfo_t *info) {
    struct timer *timer = on_its_way(thread->process, info->si_signo);
    *info = (siginfo_t){.si_signo = info->si_signo, .si_code = SI_KERNEL};
    if (timer && timer->number != INTERVAL) {
        info->si_code = SI_TIMER;
        info->si_timerid = timer->number;
        memcpy(&info->si_value, &timer->value, sizeof info->si_value);
    }
    if (timer)
        timer->on_its_way = false;
    ptrace(PTRACE_SETSIGINFO, thread->id, 0, info);
}

bool timers_let_come(const struct thread *thread, siginfo_t *info) {
    bool numbered = info->si_code == SI_TIMER;
    if (info->si_code == SI_USER && info->si_pid == getpid()) {
        tell_as_of_kernel(thread, info);
        return true;
    }
    if (!numbered && (info->si_code != SI_KERNEL || info->si_signo != SIGALRM))
        return true;
    struct timer *timer = place_of(thread->process, numbered ? info->si_timerid : INTERVAL);
    if (!timer || timer->process != thread->process)
        return true;
    bool was_sent = timer->ahead;
    if (was_sent)
        timer->ahead--;
    else
        went_off(timer);
    if (timer->due == NEVER && !timer->ahead)
        timer->process = 0;
    return !was_sent;
}
