// SPDX-License-Identifier: Apache-2.0
// Timers of POSIX that end a wait for nobody: at a moment of a clock, and again and again.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 3, MINUTE = 60, GIVEN = 42 };

static volatile sig_atomic_t came, given;

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)number;
    (void)context;
    came++;
    given = info->si_code == SI_TIMER ? info->si_value.sival_int : -1;
}

int main(int count, char **words) {
    int ends[2];
    char byte;
    timer_t timer;
    struct timespec before, after;
    clockid_t clock =
        count > 2 && strcmp(words[2], "of-day") == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    int wanted = strcmp(words[1], "again") == 0 ? TIMES : 1;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec when = {{0, 0}, {MINUTE, 0}};
    event.sigev_value.sival_int = GIVEN;
    sigaction(SIGUSR1, &action, NULL);
    clock_gettime(clock, &before);
    if (wanted == TIMES)
        when.it_interval.tv_sec = MINUTE;
    if (strcmp(words[1], "at-a-moment") == 0)
        when.it_value = (struct timespec){before.tv_sec + MINUTE, before.tv_nsec};
    int flags = strcmp(words[1], "at-a-moment") == 0 ? TIMER_ABSTIME : 0;
    if (pipe(ends) < 0 || timer_create(clock, &event, &timer) < 0 ||
        timer_settime(timer, flags, &when, NULL) < 0)
        return 2;
    while (came < wanted)
        if (read(ends[0], &byte, 1) >= 0 || errno != EINTR)
            return 3;
    clock_gettime(clock, &after);
    long passed = after.tv_sec - before.tv_sec;
    printf("%d times, given %d, after %ld minutes\n", (int)came, (int)given, (passed + 1) / MINUTE);
    return 0;
}
