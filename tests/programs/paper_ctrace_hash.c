// SPDX-License-Identifier: Apache-2.0
// ctrace with the hash table: the same race, but the id is read once, and nothing comes of it.
// EXPECT: data-race id A B
#include "together.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int id, hash_table[32];

static void *handle_request(void *unused) {
    pthread_mutex_lock(&lock);
    id++; // A
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *update_stats(void *unused) {
    int mine = id; // B
    if (hash_table[mine % 32] == 0)
        hash_table[mine % 32] = 1;
    return unused;
}

int main(void) {
    TOGETHER(handle_request, update_stats);
    return 0;
}
