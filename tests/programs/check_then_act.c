// SPDX-License-Identifier: Apache-2.0
// Checking and taking are two critical sections: both threads may pass the check.
// EXPECT: failure SIGABRT
// MAY: atomicity balance, because between check and act the other comes
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 10;

static int get(void) {
    pthread_mutex_lock(&lock);
    int now = balance;
    pthread_mutex_unlock(&lock);
    return now;
}

static void take(int amount) {
    pthread_mutex_lock(&lock);
    balance -= amount;
    pthread_mutex_unlock(&lock);
}

static void *withdraw(void *unused) {
    if (get() >= 10)
        take(10);
    return unused;
}

int main(void) {
    TOGETHER(withdraw, withdraw);
    assert(balance >= 0);
    return 0;
}
