// SPDX-License-Identifier: Apache-2.0
// Two neighbouring bit-fields, each under its own lock: they are one place in memory.
// EXPECT: data-race flags A B
#include "together.h"

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned low : 4, high : 4;
} flags;

static void *set_low(void *unused) {
    pthread_mutex_lock(&one);
    flags.low = 1; // A
    pthread_mutex_unlock(&one);
    return unused;
}

static void *set_high(void *unused) {
    pthread_mutex_lock(&other);
    flags.high = 1; // B
    pthread_mutex_unlock(&other);
    return unused;
}

int main(void) {
    TOGETHER(set_low, set_high);
    return 0;
}
