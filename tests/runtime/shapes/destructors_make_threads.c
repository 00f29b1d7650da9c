// SPDX-License-Identifier: Apache-2.0
// The destructor of a key, run at a thread's end, makes another thread and joins it.
#include "team.h"

static pthread_key_t key;
static int destroyed, made;

static void *made_at_the_end(void *unused) {
    CHECK(pthread_getspecific(key) == NULL);
    __atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void destroy(void *value) {
    pthread_t thread;
    CHECK(value != NULL);
    CHECK(pthread_create(&thread, NULL, made_at_the_end, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void *sets(void *number) {
    CHECK(pthread_setspecific(key, (void *)(number_of(number) + 1)) == 0);
    return NULL;
}

int main(void) {
    CHECK(pthread_key_create(&key, destroy) == 0);
    run_team(6, sets);
    CHECK(destroyed == 6 && made == 6);
    return 0;
}
