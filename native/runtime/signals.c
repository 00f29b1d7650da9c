// SPDX-License-Identifier: Apache-2.0
// What is set for each signal, each thread's mask, and what of it the kernel has to know.
#include "signals.h"
#include "input.h"

#include <errno.h>
#include <string.h>

struct ew_action ew_actions[SIGNALS + 1];
uint64_t ew_kernel_mask;
static uint32_t blockers[SIGNALS + 1], awaiters[SIGNALS + 1], counted;
static uint64_t kept;      // see ew_signals_keep
static bool stacks_differ; // some thread has called sigaltstack
static uint64_t recorded;  // those that come to us also when they end the program

// --- the kernel's side

void ew_sigreturn(void); // context.S

struct kernel_action {
    ew_handler *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

#define SA_RESTORER 0x04000000ul
#define KERNEL_FLAGS (SA_NOCLDSTOP | SA_NOCLDWAIT | SA_ONSTACK | SA_RESTART)

void ew_kernel_action(int number, ew_handler *handler, unsigned long flags) {
    struct kernel_action action = {handler, (flags & KERNEL_FLAGS) | SA_SIGINFO | SA_RESTORER,
                                   ew_sigreturn, ~0ull};
    raw6(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask, 0, 0);
}

static void follow_action(int number) {
    const struct ew_action *action = &ew_actions[number];
    bool handled = action->handler != DEFAULT && action->handler != IGNORE;
    bool deadly = (recorded | BIT(SIGPIPE)) & BIT(number) && action->handler == DEFAULT;
    bool ours = awaiters[number] || kept & BIT(number) || handled || deadly;
    ew_kernel_action(number, ours ? ew_on_signal : action->handler, action->flags);
}

static void follow_actions(uint64_t set) {
    for (; set; set &= set - 1)
        follow_action(__builtin_ctzll(set) + 1);
}

// The kernel blocks what every thread blocks and none awaits.
static void follow_masks(void) {
    uint64_t mask = 0;
    for (int i = 1; i <= SIGNALS; i++)
        if (counted && blockers[i] == counted && !awaiters[i])
            mask |= BIT(i);
    mask &= ~kept;
    if (mask == ew_kernel_mask)
        return;
    ew_kernel_mask = mask;
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

void ew_signals_keep(uint64_t set) {
    uint64_t changed = kept ^ set;
    kept = set;
    follow_actions(changed);
    follow_masks();
}

void ew_signals_hold(void) {
    uint64_t all = ~0ull;
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all, 0, 0);
}

void ew_signals_release(void) {
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&ew_kernel_mask, 0, sizeof ew_kernel_mask, 0, 0);
}

void ew_mask_show(void) {
    uint64_t mask = ew_self->life.mask;
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

// --- masks

static void count(uint64_t set, uint32_t table[], int by) {
    for (; set; set &= set - 1)
        table[__builtin_ctzll(set) + 1] += (uint32_t)by;
}

void ew_mask_set(uint64_t mask) {
    struct ew_life *life = &ew_self->life;
    uint64_t before = life->mask;
    mask &= ~NEVER_BLOCKED;
    if (mask == before)
        return;
    count(before, blockers, -1);
    count(mask, blockers, 1);
    life->mask = mask;
    follow_masks();
    ew_signal_retarget(mask & ~before);
    if ((life->pending_set | ew_process_pending) & ~mask)
        life->attention = true;
}

void ew_await_begin(uint64_t set) {
    ew_self->life.awaited = set;
    count(set, awaiters, 1);
    follow_actions(set);
    follow_masks();
}

void ew_await_end(void) {
    uint64_t set = ew_self->life.awaited;
    ew_self->life.awaited = 0;
    count(set, awaiters, -1);
    follow_masks();
    follow_actions(set);
}

static int change_mask(int how, const sigset_t *set, sigset_t *old) {
    uint64_t mask = ew_self->life.mask;
    if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    uint64_t change = set ? SET(set) : 0; // `old` may be the same
    if (old) {
        memset(old, 0, sizeof *old);
        SET(old) = mask;
    }
    if (!set)
        return 0;
    ew_mask_set(how == SIG_BLOCK ? mask | change : how == SIG_UNBLOCK ? mask & ~change : change);
    ew_look_for_signals(); // what the kernel has held back until now
    if (ew_self->life.attention)
        ew_attend(false);
    return 0;
}

EW_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return change_mask(how, set, old);
}

EW_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    int error = change_mask(how, set, old);
    if (error)
        errno = error;
    return error ? -1 : 0;
}

EW_EXPORT int sigpending(sigset_t *set) {
    uint64_t kernel = 0; // what others have sent is in there too
    raw3(SYS_rt_sigpending, (long)&kernel, sizeof kernel, 0);
    ew_input(EW_INPUT_DATA, &kernel, sizeof kernel, sizeof kernel);
    memset(set, 0, sizeof *set);
    SET(set) = (ew_self->life.pending_set | ew_process_pending | kernel) & ew_self->life.mask;
    return 0;
}

// --- actions

bool ew_signal_is_valid(int number) {
    return number >= 1 && number <= SIGNALS && !(BIT(number) & RESERVED);
}

void ew_action_set(int number, const struct ew_action *action) {
    ew_actions[number] = *action;
    follow_action(number);
    if (ew_self && ew_signal_is_ignored(number))
        ew_signal_discard(number);
}

EW_EXPORT int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    if (!ew_signal_is_valid(number) || (new && (number == SIGKILL || number == SIGSTOP))) {
        errno = EINVAL;
        return -1;
    }
    struct ew_action before = ew_actions[number];
    if (new)
        ew_action_set(number,
                      &(struct ew_action){new->sa_sigaction, SET(&new->sa_mask) & ~NEVER_BLOCKED,
                                          (unsigned)new->sa_flags});
    if (old) {
        memset(old, 0, sizeof *old);
        old->sa_sigaction = before.handler;
        SET(&old->sa_mask) = before.mask;
        old->sa_flags = (int)before.flags;
    }
    return 0;
}

EW_EXPORT int __sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    return sigaction(number, new, old);
}

// --- stacks of their own

_Static_assert(sizeof(struct ew_other_stack) == sizeof(stack_t), "laid out alike");

static void follow_stack(const struct ew_life *life) {
    raw3(SYS_sigaltstack, (long)&life->other_stack, 0, 0);
}

void ew_signals_switched(void) {
    if (UNLIKELY(stacks_differ))
        follow_stack(&ew_self->life);
}

EW_EXPORT int sigaltstack(const stack_t *new, stack_t *old) {
    stack_t copy = new ? *new : (stack_t){0};
    long error = raw3(SYS_sigaltstack, (long)(new ? &copy : NULL), (long)old, 0);
    if (error < 0) {
        errno = (int)-error;
        return -1;
    }
    if (new && ew_self) {
        memcpy(&ew_self->life.other_stack, &copy, sizeof copy);
        stacks_differ = true;
    }
    return 0;
}

// The one that was set before the start: what the compiler links first begins before us.
static void find_stack(struct ew_life *life) {
    raw3(SYS_sigaltstack, 0, (long)&life->other_stack, 0);
    stacks_differ = !(life->other_stack.flags & SS_DISABLE);
}

// --- life

void ew_signals_begin(struct ew_thread *thread) {
    thread->life.other_stack.flags = SS_DISABLE;
    count(thread->life.mask, blockers, 1);
    counted++;
    follow_masks();
}

void ew_signals_end(struct ew_thread *thread) {
    count(thread->life.mask, blockers, -1);
    counted--;
    thread->life.mask = ~NEVER_BLOCKED; // it takes none any more
    for (siginfo_t info; ew_signal_take(thread->life.pending_set, &info);)
        ;
    follow_masks();
    ew_signal_retarget(~0ull);
}

// What others send; and faults, lest nobody is told how the program ended.
#define SENT                                                                                       \
    (BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGTERM) | BIT(SIGUSR1) | BIT(SIGUSR2) |       \
     BIT(SIGALRM) | BIT(SIGPIPE) | BIT(STOP))

void ew_signals_record(void) {
    recorded = SENT | EW_FAULTS;
    follow_actions(recorded);
}

bool ew_signal_is_deadly(int number) {
    return recorded & BIT(number) && ew_actions[number].handler == DEFAULT && !awaiters[number];
}

void ew_signals_forked(void) {
    struct ew_life *life = &ew_self->life;
    memset(blockers, 0, sizeof blockers);
    memset(awaiters, 0, sizeof awaiters);
    counted = 1;
    count(life->mask, blockers, 1);
    ew_delivery_forked();
    follow_masks();
}

// Whoever started the program may have left it any signal ignored or blocked. What libc keeps for
// itself a program could not set, nor do we take it over.
static void read_action(int number) {
    struct kernel_action action = {0};
    if (RESERVED & BIT(number))
        return;
    raw6(SYS_rt_sigaction, number, 0, (long)&action, sizeof action.mask, 0, 0);
    if (action.handler == ew_on_signal)
        return; // what was set before the start is known
    ew_actions[number] = (struct ew_action){action.handler, action.mask, action.flags};
}

void ew_signals_start(struct ew_thread *first) {
    raw6(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&ew_kernel_mask, 8, 0, 0);
    first->life.mask = ew_kernel_mask & ~NEVER_BLOCKED;
    find_stack(&first->life);
    for (int i = 1; i <= SIGNALS; i++)
        read_action(i);
    counted = 1;
    count(first->life.mask, blockers, 1);
    follow_masks();
    follow_actions(BIT(SIGPIPE) | RESERVED);
}
