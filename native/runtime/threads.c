// SPDX-License-Identifier: Apache-2.0
// The life of green threads: created, joined, detached, over.
#include "threads.h"
#include "libc.h"
#include "openmp.h"
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t running_threads = 1; // whose function is not over
static struct ew_thread *leader;     // whose number is the process's

// --- threads by handle: the address only says where to look

#define HANDLES 512 // one page
static struct ew_thread *handles[HANDLES];

static struct ew_thread **handle_slot(uint64_t fs) {
    return &handles[(fs * 0x9E3779B97F4A7C15u) >> 55];
}

static void handle_add(struct ew_thread *thread) {
    struct ew_thread **slot = handle_slot(thread->fs);
    thread->life.next_handle = *slot;
    *slot = thread;
}

static void handle_drop(struct ew_thread *thread) {
    struct ew_thread **at = handle_slot(thread->fs);
    while (*at != thread)
        at = &(*at)->life.next_handle;
    *at = thread->life.next_handle;
}

struct ew_thread *ew_thread_of(pthread_t handle) {
    struct ew_thread *thread = *handle_slot((uint64_t)handle);
    while (thread && thread->fs != (uint64_t)handle)
        thread = thread->life.next_handle;
    return thread;
}

// --- records

#define RECORDS_AT_ONCE 32
static struct ew_thread *spare; // linked by next_handle

static struct ew_thread *record_make(void) {
    static struct ew_thread *fresh, *end;
    if (fresh == end) {
        fresh = ew_pages(RECORDS_AT_ONCE * sizeof *fresh);
        end = fresh + RECORDS_AT_ONCE;
    }
    return fresh++;
}

static struct ew_thread *record_create(void) {
    struct ew_thread *thread = spare;
    if (thread)
        spare = thread->life.next_handle;
    else
        thread = record_make();
    memset(thread, 0, sizeof *thread);
    thread->deadline = EW_NEVER;
    return thread;
}

static void record_destroy(struct ew_thread *thread) {
    thread->life.next_handle = spare;
    spare = thread;
}

static void thread_destroy(struct ew_thread *thread) {
    handle_drop(thread);
    ew_thread_forget(thread);
    if (thread->life.first) {
        thread->fs = 0; // its memory is not ours to give back
        return;
    }
    ew_donor_give_back(thread->donor);
    ew_stack_destroy(thread);
    record_destroy(thread);
}

// A detached thread cannot take away the stack that it stands on: the next one to come or go does.
static struct ew_thread *remains;

static void remove_remains(void) {
    while (remains) {
        struct ew_thread *thread = remains;
        remains = thread->life.next_remains;
        thread_destroy(thread);
    }
}

// --- numbers

int ew_thread_number(const struct ew_thread *thread) {
    return getpid() + (thread == leader ? 0 : (int)thread->id);
}

struct ew_thread *ew_thread_numbered(int number) {
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        if (ew_thread_number(ew_thread_at(i)) == number)
            return ew_thread_at(i);
    return number == 0 ? ew_self : NULL;
}

EW_EXPORT pid_t gettid(void) {
    return ew_self ? ew_thread_number(ew_self) : (pid_t)raw1(SYS_gettid, 0);
}

// --- begin

// The frame that `ew_switch` pops the first time this thread runs.
static void first_frame(struct ew_thread *thread) {
    uint64_t *sp = (uint64_t *)(((uintptr_t)thread->stack + thread->stack_size) & ~63ul);
    *--sp = (uintptr_t)ew_thread_start;
    sp -= 6; // rbp rbx r12 r13 r14 r15
    memset(sp, 0, 6 * sizeof *sp);
    --sp;
    __asm__ volatile("stmxcsr %0" : "=m"(*(uint32_t *)sp)); // POSIX: inherits the creator's
    __asm__ volatile("fnstcw %0" : "=m"(*((uint16_t *)sp + 2)));
    thread->sp = sp;
}

static int thread_create(const pthread_attr_t *attributes, struct ew_thread **result) {
    struct ew_thread *thread = record_create();
    int error = ew_attributes_take(thread, attributes);
    if (!error)
        error = ew_donor_take(&thread->donor);
    if (!error && (error = ew_stack_create(thread, attributes)))
        ew_donor_give_back(thread->donor);
    if (error) {
        record_destroy(thread);
        return error;
    }
    thread->fs = thread->donor->fs;
    thread->selector = thread->donor->selector;
    first_frame(thread);
    *result = thread;
    return 0;
}

EW_EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                             void *(*function)(void *), void *argument) {
    if (!ew_running)
        ew_cannot("a thread was created before the runtime was ready");
    ew_openmp_refuse(PC);
    ew_begin();
    remove_remains();
    struct ew_thread *thread;
    int error = thread_create(attributes, &thread);
    if (error)
        return error;
    thread->function = function;
    thread->argument = argument;
    *handle = (pthread_t)thread->fs;
    ew_touch(EW_OP_STORE, handle, sizeof *handle, PC);
    handle_add(thread);
    ew_signals_begin(thread);
    running_threads++;
    ew_thread_add(thread);
    if (UNLIKELY(ew_watched))
        ew_tell_life(EW_OP_START, thread, PC);
    ew_point(EW_WHY_START);
    return 0;
}

__attribute__((used)) void ew_thread_main(void) {
    ew_signals_switched();
    if (ew_self->life.attention)
        ew_attend(true);
    if (UNLIKELY(ew_watched))
        ew_tell_life(EW_OP_BEGIN, ew_self, (char *)ew_self->function + 1);
    ew_self->result = ew_self->function(ew_self->argument);
    ew_thread_over();
}

// --- end

_Noreturn void ew_thread_over(void) {
    struct ew_thread *self = ew_self;
    self->life.leaving = true;
    ew_frames = self->frames_base = self->life.frames;
    ew_run_thread_destructors();
    if (--running_threads == 0)
        exit(0); // POSIX: as if the last thread had called it
    ew_signals_end(self);
    ew_mutexes_of_ending();
    if (UNLIKELY(ew_watched))
        ew_tell_life(EW_OP_END, self, (char *)self->function + 1);
    ew_wake_all(self);
    remove_remains();
    if (self->detached) {
        self->life.next_remains = remains;
        remains = self;
    }
    ew_leave();
}

static int may_join(const struct ew_thread *thread) {
    if (!thread)
        return ESRCH;
    if (thread == ew_self || thread->life.joins == ew_self)
        return EDEADLK;
    return thread->detached || thread->joined_by_someone ? EINVAL : 0;
}

static void await_end(struct ew_thread *thread, int64_t deadline, const void *pc) {
    struct ew_life *life = &ew_self->life;
    thread->joined_by_someone = true;
    life->joins = thread;
    ew_wants(EW_OP_JOIN, 0, (const void *)(uintptr_t)thread->id, 1, pc);
    while (thread->state != EW_ENDED && !ew_cancel_is_due(ew_self))
        if (ew_wait_cancellable(thread, deadline) == EW_TIMED_OUT)
            break;
    ew_wants(0, 0, NULL, 0, NULL);
    life->joins = NULL;
    thread->joined_by_someone = false;
}

static int join(pthread_t handle, void **result, int64_t deadline, const void *pc) {
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    struct ew_thread *thread = ew_thread_of(handle);
    int error = may_join(thread);
    if (error)
        return error;
    await_end(thread, deadline, pc);
    if (thread->state != EW_ENDED) {
        ew_testcancel();
        return ETIMEDOUT;
    }
    if (UNLIKELY(ew_watched))
        ew_tell_life(EW_OP_JOIN, thread, pc);
    if (result) {
        *result = thread->result;
        ew_touch(EW_OP_STORE, result, sizeof *result, pc);
    }
    thread_destroy(thread);
    return 0;
}

EW_EXPORT int pthread_join(pthread_t handle, void **result) {
    return join(handle, result, EW_NEVER, PC);
}

EW_EXPORT int pthread_tryjoin_np(pthread_t handle, void **result) {
    ew_point(EW_WHY_SYNC);
    struct ew_thread *thread = ew_thread_of(handle);
    if (thread && thread->state != EW_ENDED)
        return EBUSY;
    return join(handle, result, EW_NEVER, PC);
}

EW_EXPORT int pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock,
                                   const struct timespec *when) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (when && !ew_is_time(when))
        return EINVAL;
    return join(handle, result, when ? ew_deadline(clock, when) : EW_NEVER, PC);
}

EW_EXPORT int pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *when) {
    return pthread_clockjoin_np(handle, result, CLOCK_REALTIME, when);
}

EW_EXPORT int pthread_detach(pthread_t handle) {
    ew_point(EW_WHY_SYNC);
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    if (thread->detached)
        return EINVAL;
    thread->detached = true;
    if (thread->state == EW_ENDED)
        thread_destroy(thread);
    return 0;
}

EW_EXPORT int sched_yield(void) {
    ew_point(EW_WHY_YIELD);
    return 0;
}

// --- start

void ew_threads_prepare(uint32_t count) {
    ew_stacks_prepare(count);
    ew_donors_prepare(count); // what is missing is made when it is needed, or the program is told
}

// The others are gone; what is on their stacks stays, because the caller may know of it.
void ew_threads_forked(void) {
    memset(handles, 0, sizeof handles);
    handle_add(ew_self);
    remains = NULL;
    leader = ew_self;
    running_threads = 1;
    ew_donors_forked();
}

void ew_threads_start(struct ew_thread *first) {
    ew_donors_start();
    first->fs = ew_thread_pointer();
    first->deadline = EW_NEVER;
    first->life.first = true;
    leader = first;
    ew_stack_of_first(first);
    handle_add(first);
    ew_attributes_start(first);
    ew_signals_start(first);
    ew_processes_start();
    ew_loading_start();
}
