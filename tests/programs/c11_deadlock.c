// SPDX-License-Identifier: Apache-2.0
// C11 threads: two mutexes in two orders.
// EXPECT: deadlock first,second A B C D
#include <threads.h>

static mtx_t first, second;

static int forward(void *unused) {
    (void)unused;
    mtx_lock(&first);  // A
    mtx_lock(&second); // B
    mtx_unlock(&second);
    mtx_unlock(&first);
    return 0;
}

static int backward(void *unused) {
    (void)unused;
    mtx_lock(&second); // C
    mtx_lock(&first);  // D
    mtx_unlock(&first);
    mtx_unlock(&second);
    return 0;
}

int main(void) {
    thrd_t one, two;
    mtx_init(&first, mtx_plain);
    mtx_init(&second, mtx_plain);
    thrd_create(&one, forward, NULL);
    thrd_create(&two, backward, NULL);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    return 0;
}
