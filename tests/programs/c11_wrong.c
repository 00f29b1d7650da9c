// SPDX-License-Identifier: Apache-2.0
// C11 threads: one of them writes after it has given the mutex back.
// EXPECT: data-race balance A B
#include <threads.h>

static mtx_t lock;
static int balance;

static int save(void *unused) {
    (void)unused;
    mtx_lock(&lock);
    balance += 10; // A
    mtx_unlock(&lock);
    return 0;
}

static int spend(void *unused) {
    (void)unused;
    mtx_lock(&lock);
    mtx_unlock(&lock);
    balance -= 10; // B
    return 0;
}

int main(void) {
    thrd_t one, two;
    mtx_init(&lock, mtx_plain);
    thrd_create(&one, save, NULL);
    thrd_create(&two, spend, NULL);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    mtx_destroy(&lock);
    return 0;
}
