// SPDX-License-Identifier: Apache-2.0
// Ordered: who waits for a timer that sends a signal is not waited for either. When nobody can go
// but those that sleep for longer, time goes on until it is due, and its signal is sent. Only where
// nobody outside could wake one before: else all wait for the kernel's timer. So it is with timers
// that go off again and again, at a moment of a clock, or that one thread alone is told of.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

enum { TIMERS_MAX = 64, SECOND = 1000000000, INTERVAL = -1 };

struct timer {
    pid_t process; // 0: none
    int number;    // that the kernel gave it, or INTERVAL
    int signal;
    int64_t due; // nanoseconds, of the machine's clock put on by those that nobody waited for
    bool sent;   // what the kernel's timer sends later is left out
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

// Of /proc/PID/timers: "ID: 0", "signal: 14/0000000000000000", "notify: signal/pid.7".
static int signal_of(pid_t process, int number) {
    char path[64], line[128];
    int id = -1, signal = 0, found = 0;
    snprintf(path, sizeof path, "/proc/%d/timers", (int)process);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "ID: %d", &id) != 1)
            sscanf(line, "signal: %d/", &signal);
        if (id == number && strncmp(line, "notify: signal/pid.", 19) == 0)
            found = signal;
    }
    if (file)
        fclose(file);
    return found;
}

static int64_t once(struct timespec value, bool again) {
    return again ? 0 : (int64_t)value.tv_sec * SECOND + value.tv_nsec;
}

static void set(pid_t process, int number, int64_t length) {
    struct timer *timer = place_of(process, number);
    int signal = number == INTERVAL ? SIGALRM : signal_of(process, number);
    if (timer && length > 0 && signal)
        *timer = (struct timer){process, number, signal, now() + length, false};
    else if (timer)
        timer->process = 0;
}

static void set_interval(const struct thread *thread, uint64_t address) {
    struct itimerval asked = {0};
    memory_read(thread->id, address, &asked, sizeof asked);
    struct timespec value = {asked.it_value.tv_sec, asked.it_value.tv_usec * 1000};
    bool again = asked.it_interval.tv_sec || asked.it_interval.tv_usec;
    set(thread->process, INTERVAL, once(value, again));
}

static void set_timer(const struct thread *thread, const uint64_t arguments[]) {
    struct itimerspec asked = {0};
    memory_read(thread->id, arguments[2], &asked, sizeof asked);
    bool again = asked.it_interval.tv_sec || asked.it_interval.tv_nsec;
    bool at_a_moment = arguments[1] & TIMER_ABSTIME;
    set(thread->process, (int)arguments[0], once(asked.it_value, again || at_a_moment));
}

void timers_notice(const struct thread *thread, const struct entry *entry) {
    if (!gate_is_ordered())
        return;
    if (entry->number == SYS_alarm)
        set(thread->process, INTERVAL, (int64_t)(unsigned)entry->arguments[0] * SECOND);
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

struct timer *timers_next(pid_t process) {
    struct timer *next = NULL;
    for (struct timer *timer = timers; timer < timers + TIMERS_MAX; timer++)
        if (timer->process && !timer->sent && (!process || timer->process == process) &&
            thread_find(timer->process) && (!next || timer->due < next->due))
            next = timer;
    return next;
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
    timer->sent = true;
    kill(timer->process, timer->signal);
    signals_to(timer->process);
}

// To the program it is the kernel that sends it.
bool timers_let_come(const struct thread *thread, siginfo_t *info) {
    bool numbered = info->si_code == SI_TIMER;
    if (info->si_code == SI_USER && info->si_pid == getpid()) {
        *info = (siginfo_t){.si_signo = info->si_signo, .si_code = SI_KERNEL};
        ptrace(PTRACE_SETSIGINFO, thread->id, 0, info);
        return true;
    }
    if (!numbered && (info->si_code != SI_KERNEL || info->si_signo != SIGALRM))
        return true;
    struct timer *timer = place_of(thread->process, numbered ? info->si_timerid : INTERVAL);
    bool was_sent = timer && timer->process == thread->process && timer->sent;
    if (timer && timer->process == thread->process)
        timer->process = 0;
    return !was_sent;
}
