// SPDX-License-Identifier: Apache-2.0
// Which processors the tree runs on. A stop is two switches between the tracer and who is traced:
// on one processor they cost half of what they cost across two. So who makes calls is kept on the
// tracer's, and only who computes while others run has all of them, until it makes calls again.
// Who asks which it may have finds all.
#include <sched.h>

#include "tracer.h"

enum { FEW = 16, MANY = 48 }; // stops of a thread between two ticks of the timer
enum { LOOK_ROUND = 25 };     // ticks until the kernel may choose another for the tracer

static cpu_set_t all, one;
static int here; // the one
static bool free_to_move, never;
static int ticks_here;

static void put_apart(struct thread *thread, void *context) {
    (void)context;
    if (!thread->apart)
        sched_setaffinity(thread->id, sizeof all, &all); // one that is gone has none
    thread->apart = true;
}

static void put_together(struct thread *thread, void *context) {
    (void)context;
    sched_setaffinity(thread->id, sizeof one, &one);
    thread->apart = false;
}

static void move_along(struct thread *thread, void *context) {
    if (!thread->apart)
        put_together(thread, context);
}

static void let_move(void) {
    sched_setaffinity(0, sizeof all, &all);
    free_to_move = true;
    ticks_here = 0;
}

static void stay(void) {
    int now = sched_getcpu();
    if (never || now < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(now, &one);
    sched_setaffinity(0, sizeof one, &one);
    if (now != here)
        threads_each(move_along, NULL);
    here = now;
    free_to_move = false;
    ticks_here = 0;
}

static bool runs_now(const struct thread *thread) {
    return thread->where == ABOUT && !thread->waiting && !thread->suspended;
}

static void count_running(struct thread *thread, void *context) {
    int *running = context;
    *running += runs_now(thread);
}

static void consider(struct thread *thread, void *context) {
    const int *running = context;
    if (*running > 1 && runs_now(thread) && thread->stops < FEW)
        put_apart(thread, NULL);
    else if (thread->apart && thread->stops >= MANY)
        put_together(thread, NULL);
    thread->stops = 0;
}

void processors_begin(void) {
    here = -1;
    if (sched_getaffinity(0, sizeof all, &all) < 0 || CPU_COUNT(&all) < 2)
        never = true;
    stay();
}

// A new one is kept where who made it is, and for a tick.
void processors_inherit(const struct thread *parent, struct thread *child) {
    child->apart = parent->apart;
    child->stops = child->apart ? 0 : FEW;
}

void processors_tick(void) {
    int running = 0;
    if (never)
        return;
    if (free_to_move)
        stay();
    else if (++ticks_here >= LOOK_ROUND)
        let_move();
    threads_each(count_running, &running);
    threads_each(consider, &running);
}

void processors_asked(bool to_choose) {
    never = never || to_choose;
    let_move();
    threads_each(put_apart, NULL);
}
