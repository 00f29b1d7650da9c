// SPDX-License-Identifier: Apache-2.0
// flags: -mcx16
// Atomic operations on 16 bytes: none is lost, and each gives what was there.
#include "check.h"

#include <pthread.h>

typedef unsigned __int128 u128;

#define ROUNDS 200
static const u128 HIGH = (u128)1 << 64;
static u128 sum, bits, word;

static void *worker(void *argument) {
    u128 mine = (u128)1 << (argument ? 100 : 3);
    for (int i = 0; i < ROUNDS; i++) {
        __sync_fetch_and_add(&sum, HIGH + 1);
        __sync_fetch_and_or(&bits, mine);
        for (u128 old = word; !__sync_bool_compare_and_swap(&word, old, old + HIGH);)
            old = __sync_val_compare_and_swap(&word, 0, 0);
    }
    return NULL;
}

static void one_thread(void) {
    u128 x = HIGH | 5;
    CHECK(__sync_fetch_and_sub(&x, 6) == (HIGH | 5) && x == (u128)~0ull);
    CHECK(__sync_fetch_and_and(&x, 0xF0) == (u128)~0ull && x == 0xF0);
    CHECK(__sync_fetch_and_xor(&x, HIGH | 0xFF) == 0xF0 && x == (HIGH | 0x0F));
    CHECK(__sync_fetch_and_nand(&x, 1) == (HIGH | 0x0F) && x == ~(u128)1);
    CHECK(__sync_lock_test_and_set(&x, 7) == ~(u128)1 && x == 7);
    CHECK(__sync_val_compare_and_swap(&x, 8, 9) == 7 && x == 7);
    CHECK(__sync_val_compare_and_swap(&x, 7, 9) == 7 && x == 9);
}

int main(void) {
    pthread_t threads[2];
    one_thread();
    for (long i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, worker, (void *)i) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sum == 2 * ROUNDS * (HIGH + 1));
    CHECK(bits == ((u128)1 << 3 | (u128)1 << 100));
    CHECK(word == 2 * ROUNDS * HIGH);
    return 0;
}
