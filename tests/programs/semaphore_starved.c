// SPDX-License-Identifier: Apache-2.0
// Two threads need two tokens each, and take them one by one: with three tokens it goes well, with
// two each can have one.
// EXPECT: deadlock tokens B
#include "together.h"
#include <semaphore.h>

static sem_t tokens;

static void *need_two(void *unused) {
    sem_wait(&tokens);
    sem_wait(&tokens); // B
    sem_post(&tokens);
    sem_post(&tokens);
    return unused;
}

int main(void) {
    sem_init(&tokens, 0, 2);
    TOGETHER(need_two, need_two);
    return 0;
}
