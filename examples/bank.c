// SPDX-License-Identifier: Apache-2.0
// Two tellers and one account: every deposit is counted under a lock, but paid in without one.
#include <pthread.h>
#include <stdio.h>

static long balance;
static long deposits;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static void count(void) {
    pthread_mutex_lock(&counting);
    deposits++;
    pthread_mutex_unlock(&counting);
}

static void deposit(long amount) {
    long before = balance;
    balance = before + amount;
    count();
}

static void *teller(void *amount) {
    for (int i = 0; i < 3; i++)
        deposit((long)amount);
    return NULL;
}

int main(void) {
    pthread_t tellers[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, (void *)10);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    printf("%ld deposits of 10, balance %ld\n", deposits, balance);
    return 0;
}
