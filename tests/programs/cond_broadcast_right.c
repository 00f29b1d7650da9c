// SPDX-License-Identifier: Apache-2.0
// A gate that opens once for everybody.
// EXPECT: nothing
#include "together.h"
#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, passed;

static void *pass(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&opened, &lock);
    passed++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *open_it(void *unused) {
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    TOGETHER(pass, open_it, pass);
    assert(passed == 2);
    return 0;
}
