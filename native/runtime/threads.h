// SPDX-License-Identifier: Apache-2.0
// Threads of the target: creation, end, and what hangs on them.
#ifndef EITHERWAY_THREADS_H
#define EITHERWAY_THREADS_H

#include "runtime.h"

// --- threads.c
_Noreturn void ew_thread_over(void); // the running thread's function is over, its stack is empty
struct ew_thread *ew_thread_of(pthread_t handle);
void ew_threads_prepare(uint32_t count); // makes what so many threads need, ahead of time
void ew_threads_forked(void);            // in the child: the running thread is the only one
int ew_thread_number(const struct ew_thread *thread); // what gettid says
struct ew_thread *ew_thread_numbered(int number);     // 0 is the running one; or NULL

// --- donors.c: thread control blocks and TLS that glibc made

struct ew_donor {
    uint64_t fs;
    uint32_t selector; // that sets it; 0: there is none
    void *place;       // where its control block and its stack lie, if not where glibc put them
    char *libc_tls;    // libc's own part of its TLS, as it was when new
    int alive;         // cleared and woken by the kernel when its kernel thread is gone
    bool used;         // by a thread of the program
    struct ew_donor *next;
    struct ew_donor *known_next;
    uint64_t ordinal; // in the order in which they were first taken; 0: not yet
};

int ew_donor_take(struct ew_donor **result);
void ew_donor_give_back(struct ew_donor *donor);
int ew_donors_prepare(uint32_t count);
void ew_donors_start(void);
void ew_donors_forked(void);
uint64_t ew_thread_pointer(void);
// By the thread pointer: a number that is the same in every run; 0: it never was one.
uint64_t ew_donor_ordinal(uint64_t fs);

// --- selectors.c
void *ew_place_take(size_t size);     // for a donor's stack, always as much; NULL: there is none
uint32_t ew_selector_of(uint64_t fs); // that sets this thread pointer; 0: there is none
void ew_places_forked(void);          // in the child: only the running thread's is in use

// --- children.c
void ew_child_made(void); // who waits for any looks again

// --- processes.c
void ew_processes_start(void);

// --- loading.c
EW_DATA bool ew_uninterrupted;              // the running thread is in the loader
bool ew_loading_pause(void);                // it blocks nevertheless
bool ew_loading_gives_way(enum ew_why why); // at a decision point: it seems to wait for others
void ew_loading_resume(bool paused);
void ew_loading_start(void);
void ew_loading_forked(void);

// --- futex.c, once.c, stdio.c: in the child
void ew_futex_forked(void);
void ew_once_forked(void);
void ew_streams_forked(void);

// --- attributes.c
int ew_priority_set(struct ew_thread *thread, int policy, int priority); // or an error
int ew_attributes_take(struct ew_thread *thread, const pthread_attr_t *attributes);
void ew_attributes_start(struct ew_thread *first);

// --- scheduler.c
enum ew_woken ew_wait_quietly(const void *object, int64_t deadline); // no handler runs in it

// --- cancel.c
void *ew_unwinder(const char *name); // a function of the library that unwinds
bool ew_cancel_is_due(const struct ew_thread *thread);
void ew_cancel_if_anywhere(void); // acts on an asynchronous cancellation

// --- signals.c and delivery.c
EW_DATA volatile bool ew_signal_arrived; // the kernel has handed us one that nobody has looked at
void ew_take_arrivals(void);             // gives those to threads, and wakes them
void ew_signal_come(void);               // the next one that the recording has: see script.h
// Whether a signal from outside could free somebody: its handler may post a semaphore or write to
// a pipe for who waits for that, or end the wait. It may not unlock a mutex.
bool ew_handles_signals(void); // which somebody else could send
bool ew_handler_may_help(void);
// Runs what waits for the running thread. `anywhere`: it may also end here, being cancelled.
void ew_attend(bool anywhere);
void ew_signals_start(struct ew_thread *first);
void ew_signals_record(void); // from here on a signal that ends the program is part of the run
void ew_signals_begin(struct ew_thread *thread); // a new thread inherits its creator's mask
void ew_signals_end(struct ew_thread *thread);
void ew_signals_forked(void);
void ew_signals_switched(void); // another thread runs now
void ew_signals_hold(void);     // no signal comes in until released
void ew_signals_release(void);
void ew_mask_set(uint64_t mask); // of the running thread
// While another program is started, and until released, the kernel has the running thread's mask.
void ew_mask_show(void);
// The same with signals that it blocks and that wait for it: a program that replaces this one has
// them too. Or they are taken back.
void ew_pending_show(void);
void ew_pending_hide(void);

// --- context.S and jump.S
void ew_thread_start(void);
// Leaves the running stack for good and calls the function on the given one.
_Noreturn void ew_restart(void *stack_top, void (*function)(void));
_Noreturn void ew_jump(const void *registers, int value);
// The stack pointer in the registers that setjmp saved.
uintptr_t ew_jump_target(const void *registers);
// Restores the shadow stack from what setjmp noted, then jumps.
_Noreturn void ew_jump_back(void *buffer, int value);
void ew_leave_blocks(uintptr_t target); // of the running thread, up to that stack pointer

// --- specific.c: thread_local destructors, then those of pthread keys, as glibc orders them
void ew_run_thread_destructors(void);
void ew_specific_start(struct ew_thread *first);

// mutex.c: robust mutexes that the running thread takes to its grave
void ew_mutexes_of_ending(void);
void ew_mutexes_forked(void);

#endif
