// SPDX-License-Identifier: Apache-2.0
// Signals on their way: from the kernel or a thread, over the pending ones, to a handler.
#include "channels.h"
#include "family.h"
#include "input.h"
#include "schedule.h"
#include "script.h"
#include "signals.h"
#include "timers.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t watched; // by a signalfd

// --- to whom

static bool may_take(const struct ew_thread *thread, int number) {
    return thread->state != EW_ENDED &&
           (!(thread->life.mask & BIT(number)) || thread->life.awaited & BIT(number));
}

static void notify(struct ew_thread *thread) {
    thread->life.attention = true;
    if (thread->state == EW_BLOCKED)
        ew_unblock(thread, false);
}

// A signalfd shows what is pending in the kernel.
static bool hand_to_kernel(const siginfo_t *info) {
    int number = info->si_signo;
    if (!(watched & ew_kernel_mask & BIT(number)))
        return false;
    long process = raw1(SYS_getpid, 0);
    return raw6(SYS_rt_tgsigqueueinfo, process, process, number, (long)info, 0, 0) == 0;
}

void ew_signal_watch(uint64_t set) {
    watched |= set;
}

void ew_signal_thread(struct ew_thread *thread, const siginfo_t *info) {
    int number = info->si_signo;
    bool takes = may_take(thread, number);
    if (takes && ew_signal_is_ignored(number) && !(thread->life.awaited & BIT(number)))
        return;
    if (!takes && hand_to_kernel(info))
        return;
    ew_pending_put(&thread->life.pending, &thread->life.pending_set, info);
    if (takes)
        notify(thread);
}

// As in Linux the first thread is asked first; then the oldest.
static struct ew_thread *taker(int number) {
    struct ew_thread *best = NULL;
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        struct ew_thread *thread = ew_thread_at(i);
        if (may_take(thread, number) && (!best || thread->id < best->id))
            best = thread;
    }
    return best;
}

void ew_signal_process(const siginfo_t *info) {
    struct ew_thread *thread = taker(info->si_signo);
    if (thread && ew_signal_is_ignored(info->si_signo) &&
        !(thread->life.awaited & BIT(info->si_signo)))
        return;
    ew_pending_put(&ew_process_list, &ew_process_pending, info);
    if (thread)
        notify(thread);
}

// --- of timers

siginfo_t *ew_signal_of_timer(struct ew_thread *thread, int id) {
    struct ew_pending *at = thread ? thread->life.pending : ew_process_list;
    while (at && !(at->info.si_code == SI_TIMER && at->info.si_timerid == id))
        at = at->next;
    return at ? &at->info : NULL;
}

void ew_signal_from_timer(struct ew_thread *thread, const siginfo_t *info) {
    if (thread)
        ew_signal_thread(thread, info);
    else if (!hand_to_kernel(info))
        ew_signal_process(info);
}

void ew_signal_retarget(uint64_t set) {
    for (set &= ew_process_pending; set; set &= set - 1) {
        struct ew_thread *thread = taker(__builtin_ctzll(set) + 1);
        if (thread)
            notify(thread);
    }
}

// --- handlers

#define SILENT (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT))
#define STOPPING (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))

bool ew_signal_is_ignored(int number) {
    ew_handler *handler = ew_actions[number].handler;
    return handler == IGNORE || (handler == DEFAULT && SILENT & BIT(number));
}

void ew_signal_is_last(int number) {
    ew_trace_finish();
    ew_family_ended(0, number);
    ew_kernel_action(number, DEFAULT, 0);
}

// A handler that somebody else's signal could start.
static uint64_t handled(void) {
    uint64_t set = 0;
    for (int i = 1; i <= SIGNALS; i++)
        if (ew_actions[i].handler != DEFAULT && ew_actions[i].handler != IGNORE)
            set |= BIT(i);
    return set & ~(EW_FAULTS | BIT(SIGABRT) | NEVER_BLOCKED) & ~ew_kernel_mask;
}

bool ew_handles_signals(void) {
    return handled();
}

bool ew_handler_may_help(void) {
    if (!handled())
        return false;
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        const struct ew_thread *thread = ew_thread_at(i);
        if (thread->state == EW_BLOCKED && thread->life.handler_helps)
            return true;
    }
    return false;
}

// What the kernel does by itself, it does.
static void by_default(int number) {
    if (SILENT & BIT(number) || (STOPPING & BIT(number) && ew_replaying))
        return; // in a replay nobody might let it go on
    if (!(STOPPING & BIT(number)))
        ew_signal_is_last(number);
    else
        ew_kernel_action(number, DEFAULT, 0);
    uint64_t open = ew_kernel_mask & ~BIT(number);
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&open, 0, sizeof open, 0, 0);
    raw3(SYS_tgkill, raw1(SYS_getpid, 0), raw1(SYS_gettid, 0), number);
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&ew_kernel_mask, 0, sizeof open, 0, 0);
}

static bool stands_on(const struct ew_other_stack *stack) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), from = (uintptr_t)stack->lowest;
    return here > from && here - from <= stack->size;
}

static void call(const struct ew_action *action, siginfo_t *info, void *context, bool in_kernel) {
    const struct ew_other_stack *stack = &ew_self->life.other_stack;
    bool elsewhere = !in_kernel && action->flags & SA_ONSTACK && !(stack->flags & SS_DISABLE) &&
                     !stands_on(stack);
    if (elsewhere)
        ew_call_on((char *)stack->lowest + stack->size, action->handler, info->si_signo, info,
                   context);
    else
        action->handler(info->si_signo, info, context);
}

// The mask in the context is what the thread goes back to; the handler may change it there.
static void handle(siginfo_t *info, ucontext_t *context, bool in_kernel) {
    struct ew_life *life = &ew_self->life;
    const struct ew_action action = ew_actions[info->si_signo];
    const uint64_t own = action.flags & SA_NODEFER ? 0 : BIT(info->si_signo);
    enum ew_interruption before = life->interrupted;
    SET(&context->uc_sigmask) = life->mask;
    ew_mask_set(life->mask | action.mask | own);
    if (action.flags & SA_RESETHAND)
        ew_action_set(info->si_signo, &(struct ew_action){DEFAULT, 0, 0});
    call(&action, info, context, in_kernel);
    ew_mask_set(SET(&context->uc_sigmask));
    enum ew_interruption now = action.flags & SA_RESTART ? EW_RESTARTS : EW_FAILS;
    life->interrupted = now > before ? now : before;
}

static void deliver(siginfo_t *info) {
    ew_handler *handler = ew_actions[info->si_signo].handler;
    if (handler == IGNORE)
        return;
    if (handler == DEFAULT) {
        by_default(info->si_signo);
        return;
    }
    ucontext_t context;
    ew_signal_taken(info->si_signo, PC);
    getcontext(&context);
    memcpy(&context.uc_stack, &ew_self->life.other_stack, sizeof context.uc_stack);
    handle(info, &context, false);
}

void ew_attend(bool anywhere) {
    struct ew_life *life = &ew_self->life;
    siginfo_t info;
    life->attention = false;
    while (ew_signal_take(~life->mask & ~life->awaited, &info))
        deliver(&info);
    if (anywhere)
        ew_cancel_if_anywhere();
    else if (life->cancel_anywhere && ew_cancel_is_due(ew_self))
        life->attention = true; // at the next point
}

bool ew_interrupted(bool even_restarting) {
    enum ew_interruption interrupted = ew_self->life.interrupted;
    return interrupted == EW_FAILS || (even_restarting && interrupted == EW_RESTARTS);
}

// --- from the kernel

// Written by the handler, which interrupts the reader but is never interrupted by it.
#define RING 256
EW_LARGE static siginfo_t ring[RING];
static volatile uint32_t written, taken;
volatile bool ew_signal_arrived;

static void arrive(const siginfo_t *info, ucontext_t *context) {
    if (ew_schedule_following())
        return; // those of the recording come instead
    ring[written % RING] = *info;
    written++;
    ew_signal_arrived = true;
    if (written - taken == RING)
        SET(&context->uc_sigmask) = ~0ull; // the kernel keeps the rest until there is room
}

static void accept(const siginfo_t *came) {
    struct ew_input_signal signal = {.when = ew_elapsed()};
    if (came)
        signal.info = *came;
    ew_input_signal(&signal);
    int number = signal.info.si_signo;
    ew_schedule_note(EW_SWITCH_SIGNAL, (uint32_t)number);
    if (ew_signal_is_deadly(number) && taker(number))
        by_default(number);
    ew_signal_process(&signal.info);
}

void ew_signal_come(void) {
    struct ew_input_signal signal;
    ew_script_take_signal(&signal);
    accept(&signal.info);
}

static void take_recorded(void) {
    const struct ew_schedule_switch *next;
    while ((next = ew_schedule_next()) && next->steps == ew_steps &&
           next->kind == EW_SWITCH_SIGNAL) {
        ew_schedule_taken();
        accept(NULL);
    }
}

void ew_take_arrivals(void) {
    if (ew_schedule_following()) {
        take_recorded();
        return;
    }
    ew_signal_arrived = false;
    bool was_full = written - taken == RING;
    while (taken != written) {
        siginfo_t info = ring[taken % RING];
        taken++;
        accept(&info);
    }
    if (was_full)
        ew_signals_release();
}

void ew_look_for_signals(void) {
    ew_step();
    if (UNLIKELY(ew_signal_arrived || ew_schedule_following()))
        ew_take_arrivals();
}

static bool is_fault(const siginfo_t *info) {
    return EW_FAULTS & BIT(info->si_signo) && info->si_code > 0;
}

// Caused by a call that the running thread is in: abort inside libc, or a write to a closed pipe.
static bool is_of_running_thread(const siginfo_t *info) {
    bool by_write = info->si_signo == SIGPIPE || info->si_signo == SIGXFSZ;
    return (info->si_code == SI_TKILL || (by_write && info->si_code == SI_USER)) &&
           info->si_pid == raw1(SYS_getpid, 0);
}

static void handle_now(siginfo_t *info, ucontext_t *context) {
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&ew_kernel_mask, 0, sizeof ew_kernel_mask, 0, 0);
    handle(info, context, true);
    SET(&context->uc_sigmask) = ew_kernel_mask;
}

volatile int ew_signal_swallowed;

void ew_on_signal(int number, siginfo_t *info, void *context) {
    if (number == ew_signal_swallowed && is_of_running_thread(info))
        return;
    ew_handler *handler = ew_actions[number].handler;
    bool has_handler = handler != DEFAULT && handler != IGNORE;
    bool blocked = ew_self && ew_self->life.mask & BIT(number);
    if (is_fault(info)) {
        if (ew_peek_failed(context))
            return;
        if (has_handler && !blocked) {
            handle_now(info, context);
            return;
        }
        ew_signals_release(); // the tracer looks at memory that may be the one that is not there
        ew_signal_is_last(number); // it happens again
    } else if (!is_of_running_thread(info)) {
        arrive(info, context);
    } else if (has_handler && !blocked) {
        handle_now(info, context);
    } else if (number == SIGABRT && handler == DEFAULT) {
        ew_signals_release();
        ew_signal_is_last(number); // of libc's own abort
    } else {
        ew_signal_thread(ew_self, info);
    }
}

// --- for a program that replaces this one

static uint64_t shown;

static void show(const struct ew_pending *list, uint64_t except) {
    long process = raw1(SYS_getpid, 0);
    for (; list; list = list->next) {
        int number = list->info.si_signo;
        if (!(except & BIT(number)) &&
            raw6(SYS_rt_tgsigqueueinfo, process, process, number, (long)&list->info, 0, 0) == 0)
            shown |= BIT(number);
    }
}

void ew_pending_show(void) {
    uint64_t there = 0;
    shown = 0;
    raw3(SYS_rt_sigpending, (long)&there, sizeof there, 0);
    there |= ~ew_self->life.mask;
    show(ew_self->life.pending, there);
    show(ew_process_list, there);
}

void ew_pending_hide(void) {
    struct timespec now = {0};
    while (shown && raw6(SYS_rt_sigtimedwait, (long)&shown, 0, (long)&now, sizeof shown, 0, 0) > 0)
        ;
    shown = 0;
}

void ew_delivery_forked(void) {
    struct ew_life *life = &ew_self->life;
    ew_pending_discard(&life->pending, &life->pending_set, ~0ull);
    ew_pending_discard(&ew_process_list, &ew_process_pending, ~0ull);
    taken = written;
    ew_signal_arrived = false;
}
