// SPDX-License-Identifier: Apache-2.0
// Ten thousand threads, one after the other: identity, storage and results are each one's own.
#include "team.h"

#define COUNT 10000
static _Thread_local long own;
static long sum;

static void *once(void *number) {
    CHECK(own == 0);
    own = number_of(number) + 1;
    sum += own;
    return &sum;
}

int main(void) {
    for (long i = 0; i < COUNT; i++) {
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, once, (void *)i) == 0);
        CHECK(pthread_join(thread, &result) == 0 && result == &sum);
    }
    CHECK(sum == (long)COUNT * (COUNT + 1) / 2);
    return 0;
}
