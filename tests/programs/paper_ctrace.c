// SPDX-License-Identifier: Apache-2.0
// ctrace: the id is raised under a lock but read without; it grows past the table after the check.
// EXPECT: data-race id A B
// EXPECT: failure SIGABRT
#include "together.h"
#include <assert.h>

enum { MAX_SIZE = 32 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int id = MAX_SIZE - 1, table[MAX_SIZE];

static void *handle_request(void *unused) {
    pthread_mutex_lock(&lock);
    id++; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *update_stats(void *unused) {
    if (id < MAX_SIZE) { // B
        int mine = id;   // B
        assert(mine < MAX_SIZE);
        table[mine] = 1;
    }
    return unused;
}

int main(void) {
    TOGETHER(handle_request, update_stats);
    return 0;
}
