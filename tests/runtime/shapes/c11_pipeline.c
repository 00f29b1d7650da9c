// SPDX-License-Identifier: Apache-2.0
// C11 threads alone: a pipeline of stages, each with its own storage and a result of its own.
#include "../programs/check.h"

#include <stdatomic.h>
#include <threads.h>

#define STAGES 6
#define ITEMS 15
static struct stage {
    mtx_t lock;
    cnd_t changed;
    int item; // 0: empty
} stages[STAGES + 1];
static once_flag once = ONCE_FLAG_INIT;
static tss_t counter;
static atomic_int destroyed;

static void destroy(void *value) {
    CHECK(*(int *)value == ITEMS);
    destroyed++;
}

static void begin(void) {
    CHECK(tss_create(&counter, destroy) == thrd_success);
}

static void put(struct stage *stage, int item) {
    CHECK(mtx_lock(&stage->lock) == thrd_success);
    while (stage->item)
        cnd_wait(&stage->changed, &stage->lock);
    stage->item = item;
    cnd_broadcast(&stage->changed);
    mtx_unlock(&stage->lock);
}

static int take(struct stage *stage) {
    mtx_lock(&stage->lock);
    while (!stage->item)
        cnd_wait(&stage->changed, &stage->lock);
    int item = stage->item;
    stage->item = 0;
    cnd_broadcast(&stage->changed);
    mtx_unlock(&stage->lock);
    return item;
}

static int works(void *argument) {
    static thread_local int done;
    struct stage *stage = argument;
    call_once(&once, begin);
    CHECK(tss_set(counter, &done) == thrd_success);
    for (int i = 0; i < ITEMS; i++) {
        put(stage + 1, take(stage) + 1);
        ++*(int *)tss_get(counter);
        thrd_yield();
    }
    return done;
}

int main(void) {
    thrd_t threads[STAGES];
    for (int i = 0; i <= STAGES; i++)
        CHECK(mtx_init(&stages[i].lock, mtx_plain) == thrd_success &&
              cnd_init(&stages[i].changed) == thrd_success);
    for (int i = 0; i < STAGES; i++)
        CHECK(thrd_create(&threads[i], works, &stages[i]) == thrd_success);
    for (int i = 1, got = 1; got <= ITEMS;) {
        if (i <= ITEMS)
            put(&stages[0], 100 * i++);
        if (i > 2 || i > ITEMS)
            CHECK(take(&stages[STAGES]) == 100 * got++ + STAGES);
    }
    for (int i = 0; i < STAGES; i++) {
        int result;
        CHECK(thrd_join(threads[i], &result) == thrd_success && result == ITEMS);
    }
    CHECK(destroyed == STAGES);
    return 0;
}
