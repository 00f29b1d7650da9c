// SPDX-License-Identifier: Apache-2.0
// alarm, ualarm and setitimer: the three timers that every process has.
//
// ITIMER_VIRTUAL and ITIMER_PROF count the time in which threads run, which is virtual too.
#include "channels.h"
#include "signals.h"
#include "timers.h"

#include <errno.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void expired(struct ew_timer *timer, uint64_t times);

static struct itimer {
    struct ew_timer timer;
    int signal;
} itimers[] = {
    [ITIMER_REAL] = {{.expiry = EW_NEVER, .expired = expired}, SIGALRM},
    [ITIMER_VIRTUAL] = {{.expiry = EW_NEVER, .expired = expired, .on_cpu = true}, SIGVTALRM},
    [ITIMER_PROF] = {{.expiry = EW_NEVER, .expired = expired, .on_cpu = true}, SIGPROF},
};

static void expired(struct ew_timer *timer, uint64_t times) {
    siginfo_t info;
    (void)times; // one of an ordinary signal is kept
    memset(&info, 0, sizeof info);
    info.si_signo = ((struct itimer *)timer)->signal;
    info.si_code = SI_KERNEL;
    ew_signal_from_timer(NULL, &info);
}

static bool is_valid(const struct timeval *time) {
    return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

static int64_t nanoseconds(const struct timeval *time) {
    int64_t value = ew_nanoseconds(&(struct timespec){time->tv_sec, time->tv_usec * 1000});
    return value == EW_NEVER ? EW_NEVER / 2 : value;
}

static struct timeval microseconds(int64_t nanoseconds) {
    int64_t rounded = (nanoseconds + 999) / 1000; // what is left is never nothing
    return (struct timeval){rounded / 1000000, rounded % 1000000};
}

static void show(const struct ew_timer *timer, struct itimerval *result) {
    struct ew_setting left = ew_timer_left(timer);
    result->it_value = microseconds(left.value);
    result->it_interval = microseconds(left.interval);
}

EW_EXPORT int getitimer(__itimer_which_t which, struct itimerval *result) {
    if ((unsigned)which > ITIMER_PROF) {
        errno = EINVAL;
        return -1;
    }
    show(&itimers[which].timer, result);
    return 0;
}

EW_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *new,
                        struct itimerval *old) {
    bool valid = !new || (is_valid(&new->it_value) && is_valid(&new->it_interval));
    if ((unsigned)which > ITIMER_PROF || !valid) {
        errno = EINVAL;
        return -1;
    }
    struct ew_timer *timer = &itimers[which].timer;
    int64_t value = new ? nanoseconds(&new->it_value) : 0; // `old` may be the same
    int64_t interval = new ? nanoseconds(&new->it_interval) : 0;
    ew_point(EW_WHY_SYNC);
    ew_signal_sent(itimers[which].signal, PC);
    if (old)
        show(timer, old);
    ew_timer_arm(timer, value ? ew_timer_now(timer) + value : EW_NEVER, interval);
    return 0;
}

EW_EXPORT unsigned alarm(unsigned seconds) {
    struct itimerval new = {{0, 0}, {seconds, 0}}, old;
    setitimer(ITIMER_REAL, &new, &old);
    unsigned left = (unsigned)old.it_value.tv_sec;
    bool more = old.it_value.tv_usec >= 500000 || (!left && old.it_value.tv_usec);
    return left + more; // as the kernel rounds
}

EW_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval) {
    struct itimerval new = {microseconds(interval * 1000ll), microseconds(value * 1000ll)}, old;
    if (setitimer(ITIMER_REAL, &new, &old) < 0)
        return (useconds_t)-1;
    return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}

void ew_alarm_show(void) {
    struct itimerval left;
    show(&itimers[ITIMER_REAL].timer, &left);
    if (itimers[ITIMER_REAL].timer.expiry != EW_NEVER)
        raw3(SYS_setitimer, ITIMER_REAL, (long)&left, 0);
}

void ew_alarm_hide(void) {
    const struct itimerval none = {0};
    if (itimers[ITIMER_REAL].timer.expiry != EW_NEVER)
        raw3(SYS_setitimer, ITIMER_REAL, (long)&none, 0);
}
