// SPDX-License-Identifier: Apache-2.0
// A race, behind which the stack may be full: nothing can be said any more when that happens.
#include <pthread.h>

static int flag;

static int down(int reached) {
    volatile char much[4096];
    much[0] = (char)reached;
    return down(reached + 1) + much[0];
}

static void *raise_it(void *unused) {
    flag = 1;
    return unused;
}

static void *fall(void *unused) {
    if (flag)
        flag = down(0);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, raise_it, NULL);
    pthread_create(&threads[1], NULL, fall, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
