// SPDX-License-Identifier: Apache-2.0
// Readers share the lock, a writer has it alone.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int left = 1, right = 1;

static void *change(void *unused) {
    pthread_rwlock_wrlock(&lock);
    left++;
    right++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *look(void *unused) {
    pthread_rwlock_rdlock(&lock);
    assert(left == right);
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(look, change, look);
    return 0;
}
