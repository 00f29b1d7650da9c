// SPDX-License-Identifier: Apache-2.0
// timer_create and its kin: every way of notification, overruns, what is left.
// replayed
// flags: -Wno-unused-result
#include "check.h"
#include "moment.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#define MS 1000000

static volatile sig_atomic_t times;
static volatile int code, value, overruns;
static volatile pthread_t by;
static timer_t current;

static void note(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    times++;
    code = info->si_code;
    value = info->si_value.sival_int;
    by = pthread_self();
    overruns += timer_getoverrun(current);
}

static timer_t create(clockid_t clock, int notify, int number) {
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = notify;
    event.sigev_signo = number;
    event.sigev_value.sival_int = 42;
    CHECK(timer_create(clock, &event, &timer) == 0);
    times = overruns = 0;
    return current = timer;
}

// With what it sent last, which may have come meanwhile and is blocked.
static void end(timer_t timer, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    CHECK(timer_delete(timer) == 0);
    while (sigtimedwait(&set, NULL, &(struct timespec){0, 0}) == number)
        ;
}

static void set(timer_t timer, long first, long interval) {
    struct itimerspec setting = {{0, interval}, {0, first}};
    CHECK(timer_settime(timer, 0, &setting, NULL) == 0);
}

// Signals are blocked but for this, so that none is missed.
static void until(int count) {
    sigset_t none;
    sigemptyset(&none);
    while (times < count)
        CHECK(sigsuspend(&none) == -1 && errno == EINTR);
}

static void let_signals_in(int how) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(how, &all, NULL);
}

static void bad_arguments(void) {
    struct sigevent event;
    struct itimerspec setting = {{0, 0}, {0, 1000000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = 77;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == -1 && errno == EINVAL);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = 1000;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == -1 && errno == EINVAL);
    CHECK(timer_create(1000, NULL, &timer) == -1 && errno == EINVAL);
    timer = create(CLOCK_MONOTONIC, SIGEV_NONE, 0);
    CHECK(timer_settime(timer, 0, &setting, NULL) == -1 && errno == EINVAL);
    CHECK(timer_delete(timer) == 0);
}

static void by_signal(void) {
    timer_t timer = create(CLOCK_MONOTONIC, SIGEV_SIGNAL, SIGUSR1);
    set(timer, MS, 0);
    until(1);
    CHECK(code == SI_TIMER && value == 42 && overruns == 0);
    struct itimerspec left;
    CHECK(timer_gettime(timer, &left) == 0);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    set(timer, MS, MS);
    until(4);
    end(timer, SIGUSR1);
}

static void at_a_moment(clockid_t clock) {
    timer_t timer = create(clock, SIGEV_SIGNAL, SIGUSR1);
    struct itimerspec setting = {.it_value = moment_in(clock, 2 * MS)}, old;
    CHECK(timer_settime(timer, TIMER_ABSTIME, &setting, &old) == 0);
    CHECK(old.it_value.tv_sec == 0 && old.it_value.tv_nsec == 0);
    until(1);
    CHECK(has_passed(clock, &setting.it_value));
    setting.it_value = long_ago;
    CHECK(timer_settime(timer, TIMER_ABSTIME, &setting, NULL) == 0);
    until(2);
    end(timer, SIGUSR1);
}

static void what_is_left(void) {
    timer_t timer = create(CLOCK_REALTIME, SIGEV_SIGNAL, SIGUSR1);
    struct itimerspec setting = {{7, 0}, {100, 0}}, left;
    CHECK(timer_settime(timer, 0, &setting, NULL) == 0);
    CHECK(timer_gettime(timer, &left) == 0);
    CHECK(left.it_value.tv_sec >= 98 && left.it_value.tv_sec <= 100);
    CHECK(left.it_interval.tv_sec == 7);
    setting = (struct itimerspec){{0, 0}, {0, 0}};
    CHECK(timer_settime(timer, 0, &setting, &left) == 0 && left.it_value.tv_sec >= 98);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec == 0);
    CHECK(timer_delete(timer) == 0);
}

// While the signal is blocked one is kept, and the others are counted.
static void are_counted(int number) {
    timer_t timer = create(CLOCK_MONOTONIC, SIGEV_SIGNAL, number);
    set(timer, MS, MS);
    struct timespec rest = {0, 10 * MS};
    nanosleep(&rest, NULL);
    CHECK(times == 0);
    let_signals_in(SIG_UNBLOCK);
    let_signals_in(SIG_BLOCK);
    CHECK(times >= 1 && overruns >= 7);
    end(timer, number);
}

static sem_t done;
static pthread_t callers[3];
static int calls;

static void called(union sigval argument) {
    CHECK(argument.sival_int == 42);
    if (calls < 3)
        callers[calls] = pthread_self();
    calls++;
    CHECK(sem_post(&done) == 0);
}

static void by_thread(void) {
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = called;
    event.sigev_value.sival_int = 42;
    CHECK(sem_init(&done, 0, 0) == 0);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    set(timer, MS, 0);
    CHECK(sem_wait(&done) == 0 && calls == 1);
    CHECK(!pthread_equal(callers[0], pthread_self()));
    set(timer, MS, MS);
    for (int i = 0; i < 2; i++)
        while (sem_wait(&done) < 0)
            CHECK(errno == EINTR);
    CHECK(timer_delete(timer) == 0);
}

static void *is_told(void *result) {
    struct sigevent event;
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + 1;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    current = timer;
    times = 0;
    set(timer, MS, 0);
    until(1);
    CHECK(pthread_equal(by, pthread_self()));
    CHECK(timer_delete(timer) == 0);
    return result;
}

static void to_one_thread(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, is_told, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void of_cpu_time(void) {
    timer_t timer = create(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, SIGUSR1);
    let_signals_in(SIG_UNBLOCK);
    set(timer, MS, 0);
    while (!times)
        ;
    let_signals_in(SIG_BLOCK);
    CHECK(timer_delete(timer) == 0);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    let_signals_in(SIG_BLOCK);
    bad_arguments();
    by_signal();
    at_a_moment(CLOCK_MONOTONIC);
    at_a_moment(CLOCK_REALTIME);
    what_is_left();
    are_counted(SIGUSR1);
    are_counted(SIGRTMIN + 1);
    by_thread();
    to_one_thread();
    of_cpu_time();
    return 0;
}
