// SPDX-License-Identifier: Apache-2.0
// The spin lock is given back one line too early.
// EXPECT: data-race counter A A
#include "together.h"

static pthread_spinlock_t lock;
static int counter;

static void *add(void *unused) {
    pthread_spin_lock(&lock);
    int next = counter + 1; // A
    pthread_spin_unlock(&lock);
    counter = next; // A
    return unused;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    TOGETHER(add, add);
    pthread_spin_destroy(&lock);
    return 0;
}
