// SPDX-License-Identifier: Apache-2.0
// More threads over a run than there are slots for at once, and nobody knows the end of any.
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *work(void *unused) {
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_attr_t detached;
    pthread_t thread;
    sem_init(&done, 0, 0);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 66000; i++) {
        if (pthread_create(&thread, &detached, work, NULL) != 0)
            return 1;
        sem_wait(&done);
    }
    return 0;
}
