// SPDX-License-Identifier: Apache-2.0
// Signals: what the parts that send, deliver and await them know of each other.
//
// The kernel sees one thread. Each green thread has its own mask; the kernel blocks what all of
// them block. A signal that the kernel hands over is only noted, and delivered to a green thread at
// that thread's next decision point; faults of the running thread are delivered at once. Signals
// that the program sends to itself do not go through the kernel, unless everybody blocks them.
#ifndef EITHERWAY_SIGNALS_H
#define EITHERWAY_SIGNALS_H

#include "threads.h"

#include <signal.h>

#define SIGNALS 64
#define BIT(number) (1ull << ((number) - 1))
#define SET(pointer) (*(uint64_t *)(void *)(pointer)) // the kernel's part of a sigset_t
#define RESERVED (BIT(32) | BIT(33))                  // libc's own
// What stops a run that is recorded, exactly there and whatever the program has set: libc's own for
// cancelling threads, which it never does here.
#define STOP 32
#define NEVER_BLOCKED (BIT(SIGKILL) | BIT(SIGSTOP) | RESERVED)

typedef void ew_handler(int, siginfo_t *, void *);
#define DEFAULT ((ew_handler *)(void *)SIG_DFL)
#define IGNORE ((ew_handler *)(void *)SIG_IGN)

struct ew_action {
    ew_handler *handler; // or DEFAULT, IGNORE
    uint64_t mask;
    unsigned long flags;
};
EW_DATA struct ew_action ew_actions[SIGNALS + 1];

struct ew_pending {
    siginfo_t info;
    struct ew_pending *next;
};

// --- signals.c: what is set for each signal, and each thread's mask
bool ew_signal_is_valid(int number);
bool ew_signal_is_ignored(int number);
void ew_signal_is_last(int number); // the next of this number ends the program
void ew_action_set(int number, const struct ew_action *action);
void ew_await_begin(uint64_t set); // the running thread takes these whatever is set for them
void ew_await_end(void);
EW_DATA uint64_t ew_kernel_mask;      // what the kernel blocks
bool ew_signal_is_deadly(int number); // it ends the program at once
void ew_kernel_action(int number, ew_handler *handler, unsigned long flags);

// What a fault of the running thread causes.
#define EW_FAULTS                                                                                  \
    (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))
// These come to us whatever is set for them, and whoever blocks them.
void ew_signals_keep(uint64_t set);

// --- peek.c
bool ew_peek_failed(void *context); // a fault was one of ew_peek's: it goes on

// --- jump.S: calls the handler on another stack, and comes back
void ew_call_on(void *stack_top, ew_handler *handler, int signal, siginfo_t *info, void *context);

// --- pending.c
EW_DATA uint64_t ew_process_pending; // signals to the process that no thread has taken
EW_DATA struct ew_pending *ew_process_list;
void ew_pending_put(struct ew_pending **list, uint64_t *set, const siginfo_t *info);
void ew_pending_discard(struct ew_pending **list, uint64_t *set, uint64_t numbers);
bool ew_signal_take(uint64_t set, siginfo_t *info); // of those that wait for the running thread
void ew_signal_discard(int number);

// --- delivery.c
void ew_signal_thread(struct ew_thread *thread, const siginfo_t *info);
void ew_signal_process(const siginfo_t *info);
void ew_signal_from_timer(struct ew_thread *thread, const siginfo_t *info); // NULL: the process
siginfo_t *ew_signal_of_timer(struct ew_thread *thread, int id); // not taken yet; or NULL
void ew_signal_retarget(uint64_t set); // the thread that was to take these may not any more
void ew_signal_watch(uint64_t set);    // a signalfd is to see them
void ew_signalfds_closed(unsigned first, unsigned last);
void ew_signalfd_copied(int from, int to);
// What was read of a descriptor, which may be one: who reads of a signal knows what was done before
// it was sent.
void ew_signals_read(int descriptor, const void *told, long size, const void *pc);
void ew_look_for_signals(void); // a moment at which they may come in, told apart by its step
EW_DATA volatile int ew_signal_swallowed; // that the call under way raises, and its caller tells
void ew_signal_forget(int number);        // of those that the kernel keeps for the process
void ew_signal_of_call(int number);       // the running thread's call has raised it
void ew_on_signal(int number, siginfo_t *info, void *context);
void ew_delivery_forked(void);

#endif
