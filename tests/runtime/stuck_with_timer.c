// SPDX-License-Identifier: Apache-2.0
// A deadlock beside a timer that comes again and again, and helps nobody.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

int main(void) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct itimerval often = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, SIG_IGN);
    setitimer(ITIMER_REAL, &often, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    return 0;
}
