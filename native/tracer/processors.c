// SPDX-License-Identifier: Apache-2.0
// Which processors the tree runs on. A stop is two switches between the tracer and who is traced:
// on one processor they cost half of what they cost across two. So while no two run at the same
// time all of them are kept on one, and as soon as two do, or one asks, they have all again.
#include <sched.h>

#include "tracer.h"

enum { CALM = 25 }; // ticks of the timer without two that run, until they are kept together

static cpu_set_t all;
static bool together, never;
static int calm;

static void put(struct thread *thread, void *set) {
    sched_setaffinity(thread->id, sizeof(cpu_set_t), set); // one that is gone has none
}

static void put_everybody(cpu_set_t *set) {
    sched_setaffinity(0, sizeof *set, set);
    threads_each(put, set);
}

static void keep_together(void) {
    cpu_set_t one;
    int here = sched_getcpu();
    if (never || here < 0)
        return;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    put_everybody(&one);
    together = true;
}

static void spread(void) {
    calm = 0;
    if (together)
        put_everybody(&all);
    together = false;
}

static void count_running(struct thread *thread, void *context) {
    int *running = context;
    *running += thread->where == ABOUT && !thread->waiting && !thread->suspended;
}

void processors_begin(void) {
    if (sched_getaffinity(0, sizeof all, &all) < 0 || CPU_COUNT(&all) < 2)
        never = true;
    keep_together();
}

void processors_tick(void) {
    int running = 0;
    threads_each(count_running, &running);
    if (running > 1)
        spread();
    else if (++calm == CALM && !together)
        keep_together();
}

void processors_asked(bool to_choose) {
    spread();
    never = never || to_choose;
}
