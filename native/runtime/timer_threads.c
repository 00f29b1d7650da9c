// SPDX-License-Identifier: Apache-2.0
// Timers that start a thread: one that waits makes them, as in glibc.
#include "sync.h"
#include "timers.h"

#include <signal.h>

static struct ew_timer_call *due; // in the order in which they became so
static bool has_helper;

// What a thread is to do: its own, because the timer may be gone when it begins.
struct task {
    void (*function)(union sigval);
    union sigval value;
    struct task *next;
};
static struct task *spare;

static struct task *task_create(const struct ew_timer_call *of) {
    if (!spare) {
        struct task *some = ew_pages(4096);
        for (size_t i = 0; i < 4096 / sizeof *some; i++) {
            some[i].next = spare;
            spare = &some[i];
        }
    }
    struct task *task = spare;
    spare = task->next;
    *task = (struct task){of->function, of->value, NULL};
    return task;
}

static void task_destroy(struct task *task) {
    task->next = spare;
    spare = task;
}

static void *run(void *argument) {
    struct task task = *(struct task *)argument;
    sigset_t none;
    task_destroy(argument);
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    task.function(task.value);
    return NULL;
}

static void start(const struct ew_timer_call *of) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (of->stack_size)
        pthread_attr_setstacksize(&attributes, of->stack_size);
    if (of->guard_size)
        pthread_attr_setguardsize(&attributes, of->guard_size);
    struct task *task = task_create(of);
    if (pthread_create(&thread, &attributes, run, task))
        task_destroy(task); // for want of memory glibc misses one too
    pthread_attr_destroy(&attributes);
}

static struct ew_timer_call *take_first(void) {
    struct ew_timer_call *first = due;
    due = first->next;
    first->is_due = false;
    return first;
}

static void *serve(void *argument) {
    (void)argument;
    for (;;) {
        while (!due)
            ew_wait(&due, EW_NEVER);
        struct ew_timer_call *of = take_first();
        ew_forget_wake(); // by no thread
        if (UNLIKELY(ew_watched))
            ew_tell(EW_OP_WAIT, EW_FLAG_TRY, of->timer, 1, (char *)serve + 1);
        start(of);
    }
    return NULL;
}

int ew_timer_threads_start(void) {
    pthread_t thread;
    sigset_t all, before;
    if (has_helper)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    has_helper = !error;
    return error;
}

bool ew_timer_call(struct ew_timer_call *of) {
    struct ew_timer_call **end = &due;
    if (of->is_due)
        return false;
    while (*end)
        end = &(*end)->next;
    *end = of;
    of->is_due = true;
    of->next = NULL;
    ew_wake_all(&due);
    return true;
}

void ew_timer_call_cancel(struct ew_timer_call *of) {
    struct ew_timer_call **at = &due;
    while (*at && *at != of)
        at = &(*at)->next;
    if (*at)
        *at = of->next;
    of->is_due = false;
}

void ew_timer_threads_forked(void) {
    due = NULL;
    has_helper = false;
}
