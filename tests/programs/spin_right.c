// SPDX-License-Identifier: Apache-2.0
// A spin lock guards the counter.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_spinlock_t lock;
static int counter;

static void *add(void *unused) {
    pthread_spin_lock(&lock);
    counter++;
    pthread_spin_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    TOGETHER(add, add, add);
    assert(counter == 3);
    pthread_spin_destroy(&lock);
    return 0;
}
