// SPDX-License-Identifier: Apache-2.0
// What a thread has for its life: cancellation, signals, and what others may ask about it.
#ifndef EITHERWAY_LIFE_H
#define EITHERWAY_LIFE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ew_interruption { // what handlers that ran during a wait mean for the call that waited
    EW_UNDISTURBED,
    EW_RESTARTS, // all of them had SA_RESTART
    EW_FAILS,    // one had not
};

struct ew_sleep {
    int64_t since, until;   // moments of the virtual clock
    const char *program_sp; // above it are the program's own frames and registers; NULL: awake
    int woken;              // enum ew_woken
};

struct ew_life {
    struct ew_thread *next_handle;  // in its chain of the table of handles
    struct ew_thread *next_remains; // ended and detached, to be taken away
    struct ew_thread *joins;        // whose end it awaits
    void *memory;                   // the mapping that holds its stack and shadow, or the latter
    size_t memory_size;
    uintptr_t *frames; // its own shadow; the one in use may be a coroutine's

    void *forks;       // family.c: the slot of the process that it is forking
    uint32_t forks_as; // and which one of ours that is; others may fork meanwhile, in handlers

    struct ew_afterwards *afterwards; // jump.c: what is to be called when it leaves its blocks

    bool attention;       // a signal or a cancellation may be waiting for it: see ew_attend
    bool first;           // runs on the stack that the kernel made
    bool awaits_children; // blocked until one of any ends
    bool handler_helps;   // blocked in something that the handler of a signal can end
    bool leaving;         // its function is over: no cancellation any more
    bool let_go;          // by the outside, from its last wait
    struct ew_asked {
        bool is;        // it waits for its turn to make a call that the outside may answer
        int descriptor; // on which; -1: on several
    } asked;

    // tsan_annotations.c: regions that the thread is in
    struct ew_ignored {
        uint16_t reads, writes, sync;
    } ignored;
    bool fiber_chosen; // tsan_fibers.c: the next switch of contexts is to that one

    struct ew_sleep sleep; // clock.c

    // cancel.c
    bool cancelled;       // somebody asked for it
    bool cancel_disabled; // PTHREAD_CANCEL_DISABLE
    bool cancel_anywhere; // PTHREAD_CANCEL_ASYNCHRONOUS
    bool cancellable;     // blocked in a cancellation point
    __pthread_unwind_buf_t *cleanup;
    struct _pthread_cleanup_buffer *old_cleanup;
    uint64_t exception[8]; // struct _Unwind_Exception of its forced unwinding

    // signals.c; bit n - 1 of a set is signal n, as in the kernel
    uint64_t mask;
    uint64_t awaited; // what it takes with sigwait while it is blocked there
    struct ew_pending *pending;
    uint64_t pending_set;
    struct ew_other_stack {
        void *lowest; // laid out as the kernel's stack_t
        int flags;
        size_t size;
    } other_stack; // sigaltstack
    enum ew_interruption interrupted;

    // attributes.c
    char name[16];
    int policy, priority;
    bool has_affinity;
    cpu_set_t affinity;
    size_t guard;
};

#endif
