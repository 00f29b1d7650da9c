// SPDX-License-Identifier: Apache-2.0
// Who may run, who waits for what, and the switch between them.
#include "clocks.h"
#include "deciding.h"
#include "descriptors.h"
#include "due.h"
#include "family.h"
#include "guide.h"
#include "late.h"
#include "races.h"
#include "runtime.h"
#include "schedule.h"
#include "script.h"
#include "threads.h"
#include "timers.h"
#include "waiters.h"

#include <signal.h>
#include <string.h>

void ew_switch(void **save_sp, void *load_sp, uint64_t load_fs, uint32_t selector);

struct ew_thread *ew_self;
bool ew_running;

// Where a few threads are listed, and where many are: reserved, touched as threads come.
#define FEW 32
#define THREADS_MAX (1u << 20)
static struct ew_thread *few_threads[FEW], *few_ready[FEW];
static struct ew_thread **threads = few_threads;
static uint32_t thread_count;
struct ew_thread **ew_ready = few_ready;
uint32_t ew_ready_count;
// By number, which is never used again.
#define NUMBERS_MAX (1u << 26)
static struct ew_thread *few_numbered[FEW];
static struct ew_thread **numbered = few_numbered;
static uint32_t numbers_used;

uint32_t ew_thread_count(void) {
    return thread_count;
}

struct ew_thread *ew_thread_at(uint32_t index) {
    return threads[index];
}

struct ew_thread *const *ew_threads(void) {
    return threads;
}

struct ew_thread *ew_thread_with(uint32_t id) {
    return id < numbers_used ? numbered[id] : NULL;
}

bool ew_thread_was(uint32_t id) {
    return id < numbers_used;
}

void ew_make_ready(struct ew_thread *thread) {
    thread->state = EW_READY;
    thread->ready_at = ew_ready_count;
    ew_ready[ew_ready_count++] = thread;
}

static void make_unready(struct ew_thread *thread, enum ew_state state) {
    struct ew_thread *last = ew_ready[--ew_ready_count];
    ew_ready[thread->ready_at] = last;
    last->ready_at = thread->ready_at;
    thread->state = state;
}

static void make_room(struct ew_thread ***list, uint32_t count, size_t room) {
    struct ew_thread **many = ew_pages(room * sizeof *many);
    memcpy(many, *list, count * sizeof *many);
    *list = many;
}

void ew_thread_add(struct ew_thread *thread) {
    if (thread_count == FEW && threads == few_threads) {
        make_room(&threads, thread_count, THREADS_MAX);
        make_room(&ew_ready, ew_ready_count, THREADS_MAX);
    }
    if (numbers_used == FEW && numbered == few_numbered)
        make_room(&numbered, numbers_used, NUMBERS_MAX);
    if (thread_count == THREADS_MAX)
        ew_cannot("more than a million threads at once");
    if (numbers_used == NUMBERS_MAX)
        ew_cannot("more than 67 million threads in one run");
    thread->id = numbers_used++;
    numbered[thread->id] = thread;
    thread->known_at = thread_count;
    threads[thread_count++] = thread;
    ew_make_ready(thread);
    ew_guide_thread(thread, ew_self ? ew_self : thread);
}

void ew_thread_forget(struct ew_thread *thread) {
    if (ew_detecting)
        ew_clocks_forget(thread);
    numbered[thread->id] = NULL;
    struct ew_thread *last = threads[--thread_count];
    threads[thread->known_at] = last;
    last->known_at = thread->known_at;
}

static int64_t others_ran; // of the CPU time so far, as much as was not the running thread's

int64_t ew_thread_time(const struct ew_thread *thread) {
    return thread == ew_self ? ew_cpu_time() - others_ran : thread->ran;
}

static void switch_to(struct ew_thread *next) {
    struct ew_thread *previous = ew_self;
    if (next == previous)
        return;
    if (UNLIKELY(ew_trace_unsettled))
        ew_trace_settle();
    previous->frames = ew_frames;
    ew_frames = next->frames;
    int64_t now = ew_cpu_time();
    previous->ran = now - others_ran;
    others_ran = now - next->ran;
    ew_self = next;
    if (ew_detecting)
        ew_clocks_switched();
    ew_switch(&previous->sp, next->sp, next->fs, next->selector);
    ew_signals_switched();
}

// The outside is looked at now and then even while somebody is ready, lest it starve.
#define LOOK_EVERY 1024
static uint32_t decisions;

uint64_t ew_steps;
int64_t ew_accesses_granted;

// A step takes a nanosecond; what a thread asks for takes longer, and offering its turn so long
// that one who spins until another has slept does not spin much longer than that takes really.
#define SYNC_TAKES 20
#define YIELD_TAKES 1000

// A plain access that asks is itself the last of those granted; everything else is a step more.
static void count_steps(enum ew_why why) {
    int64_t left = ew_accesses_left + ew_accesses_held;
    bool more = why != EW_WHY_ACCESS && why != EW_WHY_PLACE;
    ew_steps += (uint64_t)(ew_accesses_granted - left) + more;
    ew_accesses_granted = left;
    if (more)
        ew_clock_pass(why == EW_WHY_YIELD ? YIELD_TAKES : SYNC_TAKES);
}

static void grant_accesses(int64_t left) {
    ew_accesses_granted = ew_accesses_left = ew_deciding_accesses(left);
    ew_accesses_held = 0;
    if (UNLIKELY(ew_tracing || ew_accesses_ask()))
        ew_accesses_hold();
}

void ew_step(void) {
    count_steps(EW_WHY_SYNC);
    grant_accesses(ew_accesses_granted);
}

static struct ew_thread *choose(enum ew_why why) {
    count_steps(why);
    ew_schedule_reached();
    if (UNLIKELY(ew_late != EW_NOBODY_LATE))
        ew_late_waits();
    if (ew_waiting && (++decisions % LOOK_EVERY == 0 || ew_schedule_following()))
        ew_look_outside(0);
    if (UNLIKELY(ew_signal_arrived || ew_schedule_following()))
        ew_take_arrivals();
    if (UNLIKELY(ew_elapsed() >= ew_next_due))
        ew_due_now();
    bool may_stay = ew_self->state == EW_READY;
    struct ew_thread *next = ew_decide(why);
    __builtin_prefetch(next->sp);
    if (next != ew_self || !may_stay)
        ew_schedule_note(EW_SWITCH_THREAD, next->id);
    grant_accesses(ew_accesses_granted);
    return next;
}

void ew_point_at(enum ew_why why, unsigned op, const volatile void *object, size_t size) {
    if (UNLIKELY(!ew_running || (ew_uninterrupted && !ew_loading_gives_way(why))))
        return;
    ew_self->about = (struct ew_about){object, (uint32_t)size, (uint8_t)op, (uint8_t)why};
    bool paused = UNLIKELY(ew_uninterrupted) && ew_loading_pause();
    switch_to(choose(why));
    if (UNLIKELY(paused))
        ew_loading_resume(paused);
    if (UNLIKELY(ew_self->life.attention))
        ew_attend(true);
}

// --- waiting

// A wait that is told says what ended it; of the others, such as for a descriptor, nobody is told.
static void note_wake(struct ew_thread *thread, bool timed_out) {
    bool told = !timed_out && thread->wants.op == EW_OP_WAIT;
    thread->woken_by = ew_tracing && told ? ew_trace_position() : UINT32_MAX;
    if (ew_detecting && told)
        ew_clocks_woken(thread);
}

static void end_wait(struct ew_thread *thread, bool timed_out, bool woken) {
    ew_waiters_remove(thread);
    thread->timed_out = timed_out;
    thread->woken = woken;
    note_wake(thread, timed_out);
    if (thread->deadline != EW_NEVER)
        ew_deadlines--;
    ew_make_ready(thread);
}

void ew_unblock(struct ew_thread *thread, bool timed_out) {
    end_wait(thread, timed_out, false);
}

// The trace ends with what each thread waits for.
static void tell_wants(void) {
    ew_self->frames = ew_frames;
    for (uint32_t i = 0; i < thread_count; i++) {
        ew_self = threads[i];
        ew_frames = ew_self->frames;
        if (ew_self->state == EW_BLOCKED && ew_self->wants.op)
            ew_trace(ew_self->wants.op, ew_self->wants.flags | EW_FLAG_BLOCKED,
                     ew_self->wants.object, ew_self->wants.size, ew_self->wants.pc);
    }
}

static const struct ew_thread *first_that_wants(void) {
    for (uint32_t i = 0; i < thread_count; i++)
        if (threads[i]->state == EW_BLOCKED && threads[i]->wants.op)
            return threads[i];
    return ew_self;
}

static EW_COLD _Noreturn void deadlock(void) {
    if (ew_schedule_until)
        ew_schedule_over();
    if (ew_tracing)
        tell_wants();
    ew_deadlocked(first_that_wants());
    ew_stuck();
}

// A signal that comes between the look and the wait must end the wait.
static bool look_outside(int64_t nanoseconds) {
    ew_signals_hold();
    bool seen = ew_signal_arrived || ew_look_outside(nanoseconds);
    ew_signals_release();
    return seen || ew_signal_arrived;
}

// Whether a signal may come before the timer that is due: only from a process of this program's.
static bool is_timer_alone(int64_t due) {
    return due != EW_NEVER && due == ew_timers_next(true) && ew_only_signals_waited_for() &&
           !ew_descriptors_are_shared();
}

// Nobody is ready. If somebody waits for the outside, so do we, really; otherwise the virtual clock
// jumps to what is due next.
static EW_COLD void idle(void) {
    if (ew_signal_arrived) {
        ew_take_arrivals();
        return;
    }
    if (ew_look_within() || (ew_schedule_following() && ew_look_outside(0)))
        return;
    int64_t due = ew_due_while_idle();
    int64_t left = due == EW_NEVER ? -1 : due - ew_elapsed();
    bool outside = ew_outside_waited_for() || (due == EW_NEVER && ew_handler_may_help());
    outside = outside && !is_timer_alone(due);
    if (outside) {
        ew_schedule_waits();
        ew_family_waiting(due == EW_NEVER);
        bool seen = look_outside(due != EW_NEVER && left < 0 ? 0 : left);
        ew_family_waiting(false);
        if (seen)
            return;
    }
    if (due == EW_NEVER && outside && ew_scripted && ew_script_may_go_on())
        ew_script_over();
    if (due == EW_NEVER)
        deadlock();
    ew_clock_jump(due);
    ew_due_expire(true);
    if (outside)
        ew_due_note(); // between what was seen there before and what will be
}

// The step is counted before the outside is looked at, so that what is seen there while this
// thread waits does not look as if it had been there before.
static void run_another(enum ew_why why) {
    count_steps(why);
    while (!ew_ready_count)
        idle();
    switch_to(choose(why));
}

enum ew_woken ew_wait_quietly(const void *object, int64_t deadline) {
    struct ew_thread *self = ew_self;
    self->life.interrupted = EW_UNDISTURBED;
    make_unready(self, EW_BLOCKED);
    ew_waiters_add(self, object);
    self->deadline = deadline;
    if (deadline != EW_NEVER) {
        ew_deadlines++;
        ew_due(deadline);
    }
    bool paused = UNLIKELY(ew_uninterrupted) && ew_loading_pause();
    run_another(EW_WHY_BLOCKED);
    if (UNLIKELY(paused))
        ew_loading_resume(paused);
    return self->timed_out ? EW_TIMED_OUT : EW_WOKEN;
}

enum ew_woken ew_wait(const void *object, int64_t deadline) {
    enum ew_woken woken = ew_wait_quietly(object, deadline);
    if (UNLIKELY(ew_self->life.attention))
        ew_attend(false);
    return woken;
}

enum ew_woken ew_wait_cancellable(const void *object, int64_t deadline) {
    struct ew_life *life = &ew_self->life;
    ew_self->woken = false;
    if (ew_cancel_is_due(ew_self))
        return EW_WOKEN;
    life->cancellable = true;
    enum ew_woken woken = ew_wait_quietly(object, deadline);
    life->cancellable = false;
    bool by_wake = ew_self->woken; // handlers may wait too
    if (UNLIKELY(life->attention))
        ew_attend(false);
    ew_self->woken = by_wake;
    return woken;
}

bool ew_wake_one(const void *object) {
    uint32_t count = ew_waiters(object);
    if (!count)
        return false;
    struct ew_thread *waiter = ew_waiter_behind(object, NULL);
    for (uint32_t index = ew_pick(count); index; index--)
        waiter = ew_waiter_behind(object, waiter);
    end_wait(waiter, false, true);
    return true;
}

void ew_wake_all(const void *object) {
    for (struct ew_thread *waiter = ew_waiter_behind(object, NULL), *next; waiter; waiter = next) {
        next = ew_waiter_behind(object, waiter);
        end_wait(waiter, false, true);
    }
}

_Noreturn void ew_leave(void) {
    make_unready(ew_self, EW_ENDED);
    run_another(EW_WHY_END);
    ew_bug("a thread that had ended ran again");
}

void ew_scheduler_forked(void) {
    ew_waiters_forked();
    thread_count = ew_ready_count = 0;
    ew_due_forked();
    ew_self->known_at = 0;
    memset(numbered, 0, numbers_used * sizeof *numbered);
    numbered[ew_self->id] = ew_self;
    threads[thread_count++] = ew_self;
    ew_make_ready(ew_self);
}

// --- start

void ew_scheduler_start(struct ew_thread *first) {
    ew_deciding_start();
    ew_thread_add(first);
    ew_self = first;
    ew_frames = first->frames;
    grant_accesses(0);
}

void ew_scheduler_begin(const char *policy, uint64_t seed, const struct ew_tuning *tuning) {
    ew_deciding_begin(policy, seed, tuning);
    ew_steps = 0;
    decisions = 0;
    grant_accesses(0);
}
