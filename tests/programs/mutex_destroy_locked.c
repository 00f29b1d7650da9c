// SPDX-License-Identifier: Apache-2.0
// A mutex is destroyed while its holder has it; only when the holder was late with giving it back.
// EXPECT: lock-misuse lock A
// MAY: data-race lock A B, because destroying is a write that nothing orders with the unlock
// MAY: lock-misuse lock B, because the holder then unlocks what is destroyed
#include "together.h"
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    atomic_store(&done, 1);
    pthread_mutex_unlock(&lock); // B
    return unused;
}

static void *clean_up(void *unused) {
    while (!atomic_load(&done))
        sched_yield();
    pthread_mutex_destroy(&lock); // A
    return unused;
}

int main(void) {
    TOGETHER(work, clean_up);
    return 0;
}
