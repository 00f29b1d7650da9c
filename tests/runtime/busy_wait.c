// SPDX-License-Identifier: Apache-2.0
// One thread spins on a variable until another, which has slept or been signalled, has set it.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *how;
#ifdef __OPTIMIZE__
#define PLAIN (*(volatile int *)&plain) // else it would be looked at once
#else
#define PLAIN plain
#endif

static int plain;
static volatile int flag;
static volatile sig_atomic_t rung;

static int is(const char *name) {
    return strcmp(how, name) == 0;
}

static void ring(int number) {
    rung = number;
}

static void *set(void *argument) {
    if (!is("at_once"))
        usleep(1000);
    plain = 1;
    flag = 1;
    return argument;
}

static void spin(void) {
    if (is("plain"))
        while (!PLAIN)
            ;
    else if (is("yield"))
        while (!flag)
            sched_yield();
    else if (is("pause"))
        while (!flag)
            __builtin_ia32_pause();
    else if (is("usleep"))
        while (!flag)
            usleep(10);
    else if (is("atomic"))
        while (!__atomic_load_n(&plain, __ATOMIC_ACQUIRE))
            ;
    else if (is("lock")) {
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        for (int set = 0; !set; pthread_mutex_unlock(&lock)) {
            pthread_mutex_lock(&lock);
            set = flag;
        }
    } else
        while (!flag)
            ;
}

int main(int count, char **arguments) {
    pthread_t thread;
    how = count > 1 ? arguments[1] : "at_once";
    if (is("alarm")) {
        struct itimerval soon = {{0, 0}, {0, 1000}};
        signal(SIGALRM, ring);
        setitimer(ITIMER_REAL, &soon, NULL);
        while (!rung)
            ;
        flag = 1;
    }
    pthread_create(&thread, NULL, set, NULL);
    spin();
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
