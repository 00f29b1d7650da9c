// SPDX-License-Identifier: Apache-2.0
// Waits until half a second from now: whether that carries into the seconds is the clock's affair.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static struct timespec until;

int main(void) {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 500000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&never, &lock, &until);
    pthread_mutex_unlock(&lock);
    return 0;
}
