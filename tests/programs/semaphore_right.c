// SPDX-License-Identifier: Apache-2.0
// A semaphore hands a message over; another one of one token guards a counter.
// EXPECT: nothing
#include "together.h"
#include <assert.h>
#include <semaphore.h>

static sem_t sent, token;
static int message, counter;

static void count_up(void) {
    sem_wait(&token);
    counter++;
    sem_post(&token);
}

static void *send(void *unused) {
    message = 7;
    sem_post(&sent);
    count_up();
    return unused;
}

static void *receive(void *unused) {
    sem_wait(&sent);
    assert(message == 7);
    count_up();
    return unused;
}

int main(void) {
    sem_init(&sent, 0, 0);
    sem_init(&token, 0, 1);
    TOGETHER(send, receive);
    assert(counter == 2);
    return 0;
}
