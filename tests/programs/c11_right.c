// SPDX-License-Identifier: Apache-2.0
// C11 threads: mutex, condition, call_once and thread-specific storage, all as they should be.
// EXPECT: nothing
#include <assert.h>
#include <stdlib.h>
#include <threads.h>

static once_flag once = ONCE_FLAG_INIT;
static mtx_t lock;
static cnd_t changed;
static tss_t key;
static int count;

static void make(void) {
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    tss_create(&key, free);
}

static int work(void *unused) {
    (void)unused;
    call_once(&once, make);
    tss_set(key, malloc(8));
    mtx_lock(&lock);
    count++;
    cnd_broadcast(&changed);
    while (count < 2)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    return tss_get(key) == NULL;
}

int main(void) {
    thrd_t one, two;
    int first, second;
    thrd_create(&one, work, NULL);
    thrd_create(&two, work, NULL);
    thrd_join(one, &first);
    thrd_join(two, &second);
    assert(first == 0 && second == 0);
    return 0;
}
