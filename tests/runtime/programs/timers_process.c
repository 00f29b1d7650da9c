// SPDX-License-Identifier: Apache-2.0
// alarm, ualarm, setitimer: they expire, tell what is left, and their signals come to a thread.
// replayed
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t times, last;

static void note(int number) {
    times++;
    last = number;
}

static void handle(int number, int flags) {
    struct sigaction action = {.sa_handler = note, .sa_flags = flags};
    CHECK(sigaction(number, &action, NULL) == 0);
}

static void set(int which, long value, long interval) {
    struct itimerval new = {{0, interval}, {0, value}};
    CHECK(setitimer(which, &new, NULL) == 0);
}

static void bad_arguments(void) {
    struct itimerval setting = {{0, 0}, {0, 1000000}};
    CHECK(setitimer(ITIMER_REAL, &setting, NULL) == -1 && errno == EINVAL);
    setting = (struct itimerval){{-1, 0}, {0, 1}};
    CHECK(setitimer(ITIMER_REAL, &setting, NULL) == -1 && errno == EINVAL);
    setting = (struct itimerval){{0, 0}, {1, 0}};
    CHECK(setitimer((__itimer_which_t)7, &setting, NULL) == -1 && errno == EINVAL);
    CHECK(getitimer((__itimer_which_t)7, &setting) == -1 && errno == EINVAL);
}

static void what_is_left(void) {
    struct itimerval left;
    CHECK(alarm(100) == 0);
    unsigned seconds = alarm(50);
    CHECK(seconds == 100 || seconds == 99);
    CHECK(getitimer(ITIMER_REAL, &left) == 0);
    CHECK(left.it_value.tv_sec >= 48 && left.it_value.tv_sec <= 50);
    CHECK(left.it_interval.tv_sec == 0 && left.it_interval.tv_usec == 0);
    CHECK(alarm(0) > 0);
    CHECK(getitimer(ITIMER_REAL, &left) == 0);
    CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
    CHECK(ualarm(900000, 0) == 0);
    useconds_t microseconds = ualarm(0, 0);
    CHECK(microseconds > 0 && microseconds <= 900000);
}

// Nobody can run until it expires: no deadlock.
static void one_ends_a_wait(void) {
    sigset_t alarms, before;
    handle(SIGALRM, 0);
    times = 0;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, &before);
    set(ITIMER_REAL, 2000, 0);
    CHECK(sigsuspend(&before) == -1 && errno == EINTR);
    CHECK(times == 1 && last == SIGALRM);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void one_interrupts_a_sleep(void) {
    struct timespec left, length = {100, 0};
    handle(SIGALRM, SA_RESTART);
    set(ITIMER_REAL, 1000, 1000); // the first may come before the sleep
    CHECK(nanosleep(&length, &left) == -1 && errno == EINTR);
    CHECK(left.tv_sec >= 50);
    set(ITIMER_REAL, 0, 0);
}

static void one_comes_again_and_again(void) {
    struct itimerval left;
    handle(SIGALRM, 0);
    times = 0;
    set(ITIMER_REAL, 1000, 1000);
    while (times < 5)
        CHECK(pause() == -1 && errno == EINTR);
    CHECK(getitimer(ITIMER_REAL, &left) == 0);
    CHECK(left.it_interval.tv_usec == 1000 && left.it_value.tv_usec <= 1000);
    set(ITIMER_REAL, 0, 0);
}

static void one_interrupts_a_loop(void) {
    handle(SIGALRM, 0);
    times = 0;
    set(ITIMER_REAL, 1000, 0);
    while (!times)
        ;
    handle(SIGVTALRM, 0);
    set(ITIMER_VIRTUAL, 1000, 0);
    for (times = 0; !times;)
        ;
    CHECK(last == SIGVTALRM);
    handle(SIGPROF, 0);
    set(ITIMER_PROF, 1000, 0);
    for (times = 0; !times;)
        ;
    CHECK(last == SIGPROF);
}

// The time in which nobody runs is no CPU time.
static void rest_is_no_work(void) {
    struct timespec rest = {0, 3000000};
    handle(SIGPROF, 0);
    times = 0;
    struct itimerval new = {{0, 0}, {100, 0}}, left;
    CHECK(setitimer(ITIMER_PROF, &new, NULL) == 0);
    CHECK(nanosleep(&rest, NULL) == 0);
    CHECK(times == 0 && getitimer(ITIMER_PROF, &left) == 0 && left.it_value.tv_sec >= 99);
    set(ITIMER_PROF, 0, 0);
}

static void *wait_for_it(void *set) {
    int number = 0;
    CHECK(sigwait(set, &number) == 0);
    CHECK(number == SIGALRM);
    return NULL;
}

static void another_thread_waits(void) {
    sigset_t set_of, before;
    pthread_t thread;
    sigemptyset(&set_of);
    sigaddset(&set_of, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set_of, &before);
    CHECK(pthread_create(&thread, NULL, wait_for_it, &set_of) == 0);
    set(ITIMER_REAL, 1000, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    set(ITIMER_REAL, 1000, 0);
    wait_for_it(&set_of);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// A child has none, but one that becomes another program keeps its own.
static void children(void) {
    int status;
    set(ITIMER_REAL, 500000, 0);
    pid_t child = fork();
    if (child == 0) {
        struct itimerval left;
        CHECK(getitimer(ITIMER_REAL, &left) == 0);
        CHECK(left.it_value.tv_sec == 0 && left.it_value.tv_usec == 0);
        signal(SIGALRM, SIG_DFL);
        ualarm(20000, 0);
        execlp("sleep", "sleep", "20", (char *)NULL);
        _exit(1);
    }
    while (waitpid(child, &status, 0) < 0)
        CHECK(errno == EINTR);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    set(ITIMER_REAL, 0, 0);
}

int main(void) {
    bad_arguments();
    what_is_left();
    one_ends_a_wait();
    one_interrupts_a_sleep();
    one_comes_again_and_again();
    one_interrupts_a_loop();
    rest_is_no_work();
    another_thread_waits();
    children();
    return 0;
}
