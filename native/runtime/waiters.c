// SPDX-License-Identifier: Apache-2.0
#include "waiters.h"

#include <string.h>

// Order within a bucket is order of arrival, so that nothing depends on addresses; the hash only
// keeps buckets short.
#define BUCKETS 256 // one page
static struct bucket {
    struct ew_thread *head, *tail;
} buckets[BUCKETS];

static struct bucket *bucket_of(const void *object) {
    return &buckets[((uintptr_t)object * 0x9E3779B97F4A7C15u) >> 56];
}

void ew_waiters_add(struct ew_thread *thread, const void *object) {
    struct bucket *bucket = bucket_of(object);
    thread->waits_for = object;
    thread->wait_next = NULL;
    thread->wait_previous = bucket->tail;
    if (bucket->tail)
        bucket->tail->wait_next = thread;
    else
        bucket->head = thread;
    bucket->tail = thread;
}

void ew_waiters_remove(struct ew_thread *thread) {
    struct bucket *bucket = bucket_of(thread->waits_for);
    if (thread->wait_previous)
        thread->wait_previous->wait_next = thread->wait_next;
    else
        bucket->head = thread->wait_next;
    if (thread->wait_next)
        thread->wait_next->wait_previous = thread->wait_previous;
    else
        bucket->tail = thread->wait_previous;
    thread->waits_for = NULL;
}

struct ew_thread *ew_waiter_behind(const void *object, const struct ew_thread *thread) {
    struct ew_thread *at = thread ? thread->wait_next : bucket_of(object)->head;
    while (at && at->waits_for != object)
        at = at->wait_next;
    return at;
}

uint32_t ew_waiters(const void *object) {
    uint32_t count = 0;
    for (const struct ew_thread *at = NULL; (at = ew_waiter_behind(object, at));)
        count++;
    return count;
}

void ew_waiters_forked(void) {
    memset(buckets, 0, sizeof buckets);
}
