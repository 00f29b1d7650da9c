// SPDX-License-Identifier: Apache-2.0
// Two locks in two orders.
// EXPECT: deadlock left,right A B C D
#include "together.h"

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;

static void *forward(void *unused) {
    pthread_mutex_lock(&left);  // A
    pthread_mutex_lock(&right); // B
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return unused;
}

static void *backward(void *unused) {
    pthread_mutex_lock(&right); // C
    pthread_mutex_lock(&left);  // D
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return unused;
}

int main(void) {
    TOGETHER(forward, backward);
    return 0;
}
