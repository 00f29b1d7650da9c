// SPDX-License-Identifier: Apache-2.0
// Coroutines that one thread begins and others go on with: each has its stack, none its own thread.
#include "team.h"

#include <ucontext.h>

#define COROUTINES 6
#define TURNS 8
#define STACK (64 << 10)

static struct coroutine {
    ucontext_t inside, *outside;
    int turns, over;
    char *stack;
} coroutines[COROUTINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct coroutine *waiting[COROUTINES];
static int count, finished;

static void body(int number) {
    struct coroutine *self = &coroutines[number];
    int local = 100 * number;
    for (int i = 0; i < TURNS; i++) {
        CHECK(local == 100 * number + i);
        local++;
        self->turns++;
        swapcontext(&self->inside, self->outside);
    }
    self->over = 1;
    setcontext(self->outside);
}

static struct coroutine *take(void) {
    pthread_mutex_lock(&lock);
    struct coroutine *taken = count ? waiting[--count] : NULL;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void put(struct coroutine *coroutine) {
    pthread_mutex_lock(&lock);
    if (coroutine->over)
        finished++;
    else
        waiting[count++] = coroutine;
    pthread_mutex_unlock(&lock);
}

static int all_finished(void) {
    pthread_mutex_lock(&lock);
    int all = finished == COROUTINES;
    pthread_mutex_unlock(&lock);
    return all;
}

static void *drives(void *number) {
    while (!all_finished()) {
        struct coroutine *coroutine = take();
        if (!coroutine) {
            sched_yield();
            continue;
        }
        ucontext_t here;
        coroutine->outside = &here;
        CHECK(swapcontext(&here, &coroutine->inside) == 0);
        put(coroutine);
    }
    return number;
}

int main(void) {
    for (int i = 0; i < COROUTINES; i++) {
        struct coroutine *coroutine = &coroutines[i];
        CHECK(getcontext(&coroutine->inside) == 0);
        coroutine->inside.uc_stack.ss_sp = coroutine->stack = malloc(STACK);
        coroutine->inside.uc_stack.ss_size = STACK;
        makecontext(&coroutine->inside, (void (*)(void))body, 1, i);
        put(coroutine);
    }
    run_team(3, drives);
    for (int i = 0; i < COROUTINES; i++) {
        CHECK(coroutines[i].turns == TURNS);
        free(coroutines[i].stack);
    }
    return 0;
}
