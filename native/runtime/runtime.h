// SPDX-License-Identifier: Apache-2.0
// What the parts of the runtime know of each other.
//
// All threads of the target are green threads on one carrier: the kernel thread that ran main. So
// nothing in here needs a lock or an atomic operation, and between two calls of `ew_point` or
// `ew_wait` no other thread of the target can do anything.
#ifndef EITHERWAY_RUNTIME_H
#define EITHERWAY_RUNTIME_H

#include "eitherway_format.h"
#include "life.h"
#include "raw.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <time.h>

#define EW_EXPORT __attribute__((visibility("default")))
#define EW_COLD __attribute__((noinline, cold))
// For large arrays: what is small and always in use lies together on few pages, each of which a
// forked run copies when it first writes to it.
#define EW_LARGE __attribute__((section(".bss.eitherway_large")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PC __builtin_return_address(0) // the place in the program that called us

enum ew_state {
    EW_READY,   // may go on
    EW_BLOCKED, // waits for an object, a deadline or both
    EW_ENDED,   // its function has returned; kept until joined
};

enum ew_woken { EW_WOKEN, EW_TIMED_OUT };

#define EW_NEVER INT64_MAX // a deadline: nanoseconds of the virtual clock

// What a thread knows of the others: see clocks.h.
struct ew_times {
    struct ew_vector *clock;  // NULL: nobody looks for races
    struct ew_vector *loaded; // released to what it has loaded relaxedly: known after a fence
    struct ew_vector *fenced; // what it knew at its last releasing fence
    struct ew_vector *woken;  // what the wake knew that ended its last wait
    uint32_t slot, segment, thread;
};

// What a thread is going to do: told at each of its decision points.
struct ew_about {
    const volatile void *object; // NULL: nothing that others could touch too
    uint32_t size;
    uint8_t op;  // of what others do, only loads do not conflict with a load
    uint8_t why; // enum ew_why
};

struct ew_thread {
    void *sp;          // while it is not running
    uint64_t fs;       // its thread pointer: glibc's TCB, also its pthread_t
    uintptr_t *frames; // next free entry of its shadow stack, while it is not running
    uint32_t id;       // 0 is the first thread; never used again in one run
    uint32_t ready_at; // index into the ready list while EW_READY
    uint32_t known_at; // index for ew_thread_at
    uint32_t selector; // that sets its thread pointer; 0: there is none
    uint64_t priority; // the policy's
    int64_t ran;       // nanoseconds, while it is not running
    struct ew_about about;
    struct ew_about access; // where `about` is a plain access: which one
    enum ew_state state;
    bool timed_out, woken; // how its last wait ended: neither is an interruption
    bool detached;
    bool joined_by_someone;
    bool owns_stack;

    const void *waits_for; // while EW_BLOCKED on an object
    struct ew_thread *wait_next, *wait_previous;
    int64_t deadline;
    struct pollfd *polled; // while it waits for descriptors
    uint32_t polled_count;
    bool polls_within; // only threads of this program can make them ready
    struct ew_thread *poll_next, *poll_previous;
    struct {
        const void *object; // of a JOIN, the number of the thread
        const void *pc;
        uint32_t size;
        uint8_t op, flags; // 0: nothing that a trace could name
    } wants;               // what it waits to do while EW_BLOCKED
    uint32_t woken_by;     // event of the wake that ended the last wait, until it is told
    struct {
        const void *address; // NULL when it was something else
        size_t size;
        uint32_t event;
    } stored; // by its last event, as a trace has it

    void *(*function)(void *);
    void *argument, *result;
    struct ew_donor *donor;
    char *stack; // lowest usable byte of the stack it runs on
    size_t stack_size;
    uintptr_t *frames_base;
    void **specific;         // values of pthread keys; NULL until the first is set
    struct ew_mutex *robust; // robust mutexes that it holds
    struct ew_times times;
    struct ew_life life;
};

EW_DATA struct ew_thread *ew_self; // who runs; never NULL once started
EW_DATA bool ew_running;           // false before start-up is over: calls go straight to libc
EW_DATA uint8_t ew_has_fsgsbase;

// --- stdio.c
void ew_stdio_start(void);

// --- start.c

// The run begins: what happens from here on is scheduled and recorded.
void ew_begin(void);

// --- report.c: to the standard error that the program was started with, if it still has it

void ew_say_start(void);
void ew_say(const struct iovec *parts, size_t count);

// --- scheduler.c

// Why the scheduler is asked.
enum ew_why {
    EW_WHY_SYNC = 1, // a synchronisation operation is about to happen
    EW_WHY_ATOMIC,   // an atomic operation
    EW_WHY_ACCESS,   // a plain access; only now and then
    EW_WHY_PLACE,    // a plain access where memory is known to be shared
    EW_WHY_BLOCKED,  // the running thread cannot go on
    EW_WHY_YIELD,    // it offers its turn
    EW_WHY_START,    // it has just created a thread
    EW_WHY_END,      // it has ended
};

// Steps of the run so far: one for each access and each decision point. The clock of schedules.
EW_DATA uint64_t ew_steps; // at the last decision point; behind it see ew_step_number

// At this moment of the virtual clock something is due.
void ew_due(int64_t when);

// A step that is no decision, but at which something may come in that is recorded.
void ew_step(void);

// A point at which another thread may go on instead.
void ew_point_at(enum ew_why why, unsigned op, const volatile void *object, size_t size);
static inline void ew_point(enum ew_why why) {
    ew_point_at(why, 0, NULL, 0);
}
// One before a call that the outside may answer, on this descriptor or, -1, on several.
static inline void ew_point_asking(int descriptor) {
    ew_self->life.asked = (struct ew_asked){true, descriptor};
    ew_point(EW_WHY_SYNC);
    ew_self->life.asked.is = false;
}

// Blocks the running thread until somebody wakes the object or the deadline passes. Other threads
// run meanwhile; the caller checks again what it waited for. Handlers of signals run in here, and
// end the wait like a wake would; one may jump away, so nothing of weight may be left half-done.
enum ew_woken ew_wait(const void *object, int64_t deadline);

// The same in a function that is a cancellation point, of which also a cancellation is the end. The
// caller calls ew_testcancel when it has put its things in order.
enum ew_woken ew_wait_cancellable(const void *object, int64_t deadline);

// Makes ready one thread that waits for the object (which one, the policy says); or all.
bool ew_wake_one(const void *object);
uint32_t ew_waiters(const void *object);
void ew_wake_all(const void *object);

// One of `count` things, each as good as the others: which waiter is woken. The policy says.
uint32_t ew_pick(uint32_t count);

// What the running thread is about to wait for, told if it never gets it; `op` 0: nothing.
static inline void ew_wants(unsigned op, unsigned flags, const void *object, size_t size,
                            const void *pc) {
    ew_self->wants.object = object;
    ew_self->wants.pc = pc;
    ew_self->wants.size = (uint32_t)size;
    ew_self->wants.op = (uint8_t)op;
    ew_self->wants.flags = (uint8_t)flags;
}

// Waits for the object without a limit, and says so if it never gets it.
static inline void ew_wait_wanting(unsigned op, unsigned flags, const void *object, size_t size,
                                   const void *pc) {
    ew_wants(op, flags, object, size, pc);
    ew_wait(object, EW_NEVER);
    ew_wants(0, 0, NULL, 0, NULL);
}

void ew_make_ready(struct ew_thread *thread);
void ew_unblock(struct ew_thread *thread, bool timed_out);
_Noreturn void ew_leave(void); // the running thread has ended: never comes back
void ew_scheduler_start(struct ew_thread *first);
struct ew_tuning;
void ew_scheduler_begin(const char *policy, uint64_t seed, const struct ew_tuning *tuning);

// Threads that have begun and are not forgotten yet, in no order that means anything.
uint32_t ew_thread_count(void);
struct ew_thread *ew_thread_at(uint32_t index);
struct ew_thread *const *ew_threads(void); // the same, all at once
EW_DATA struct ew_thread **ew_ready;       // those that may run, in no order that means anything
EW_DATA uint32_t ew_ready_count;
struct ew_thread *ew_thread_with(uint32_t id); // or NULL
bool ew_thread_was(uint32_t id);               // there, or is
void ew_thread_add(struct ew_thread *thread);  // gives it its id and makes it ready
void ew_thread_forget(struct ew_thread *thread);
void ew_scheduler_forked(void); // in the child: the running thread is the only one

// --- stuck.c
_Noreturn void ew_stuck(void); // no thread can go on

// --- threads.c
void ew_threads_start(struct ew_thread *first);

// --- jump.c: a block that is left

// Calls the function when the block is left, which a handler may do too that runs in a wait and
// jumps away; with -fexceptions also one that unwinds.
struct ew_afterwards {
    void (*function)(void *);
    void *argument;
    struct ew_afterwards *outer;
};
void ew_afterwards_begin(struct ew_afterwards *entry);
void ew_afterwards_end(struct ew_afterwards *entry);
#define EW_AFTERWARDS(function, argument)                                                          \
    __attribute__((cleanup(ew_afterwards_end))) struct ew_afterwards afterwards = {                \
        function, argument, NULL};                                                                 \
    ew_afterwards_begin(&afterwards)

// --- cancel.c and signals.c: what comes to a thread from elsewhere

// A cancellation point: on entry, and again after each wait in it. Does not come back when the
// thread is cancelled.
void ew_testcancel(void);
// Whether handlers ran in the last wait so that the call is to fail with EINTR. Some calls do even
// when all handlers had SA_RESTART: poll, select, epoll_wait, sleeps, sigsuspend, timed sem_wait.
bool ew_interrupted(bool even_restarting);

// --- outside.c: what the kernel and other processes do

// Blocks the running thread until one of the descriptors is ready or the deadline passes. The
// second is for those that only threads of this program can make ready: see descriptors.h. When one
// of them is closed meanwhile its number in the array changes; ew_release_held when it is over.
enum ew_woken ew_wait_outside(struct pollfd *descriptors, uint32_t count, int64_t deadline);
enum ew_woken ew_wait_within(struct pollfd *descriptors, uint32_t count, int64_t deadline);
void ew_release_held(void);
EW_DATA uint32_t ew_waiting; // so many threads wait for descriptors
bool ew_outside_waited_for(void);
bool ew_waits_outside(const struct ew_thread *thread);
bool ew_only_signals_waited_for(void); // of the outside
// Lets those go on whose descriptors are ready; waits at most so long for one (-1: for ever).
bool ew_look_outside(int64_t nanoseconds);
void ew_time_passes(int64_t nanoseconds); // on the virtual clock, as if it were waited
bool ew_outside_is_due(void); // in a replay: something that it did at this step is still to come
// After anything that may have made a descriptor within ready.
bool ew_look_within(void);
void ew_outside_forked(void);

// --- tsan_memory.c: plain accesses until the next decision point
//
// The sum of the two. A hook looks at the first only; what is held back for the tracer, which wants
// to hear of accesses, is given out one by one.
EW_DATA int64_t ew_accesses_left, ew_accesses_held;

// Counts one; whether it may pass. Loaded and stored by two instructions: a single one that does
// both at a fixed address has to wait for the one before (0.5 ns each on Zen 4).
static inline bool ew_access_passes(void) {
    int64_t left = ew_accesses_left - 1;
    __asm__("" : "+r"(left));
    ew_accesses_left = left;
    return left >= 0;
}
bool ew_access_due(void); // the first was zero: one that was held back is taken, or it is decided

void ew_accesses_hold(void); // as many as the tracer wants, and who asks at memory; the rest not
void ew_accesses_cut(void);  // the next one is decided

// Of accesses that are held back, those are told that touch something of one of two ranges: what is
// traced, and what is asked at, where it is decided before. Most touch nothing of them: such a one
// passes like all others, as long as more than so many are held back.
struct ew_span {
    uintptr_t low, high;
};
EW_DATA struct ew_told {
    struct ew_span traced, asked;
    int64_t held;
} ew_told;
static inline bool ew_is_beside(struct ew_span span, uintptr_t address, size_t size) {
    return address >= span.high || (address < span.low && size <= span.low - address);
}
static inline bool ew_access_is_untold(uintptr_t address, size_t size) {
    if (ew_accesses_held <= ew_told.held || !ew_is_beside(ew_told.traced, address, size) ||
        !ew_is_beside(ew_told.asked, address, size))
        return false;
    ew_accesses_held--;
    ew_accesses_left = 0;
    return true;
}
// From the next decision on until it is called with nothing. Other ways to touch memory than by
// plain accesses are decided all of them.
static inline void ew_accesses_ask_at(uintptr_t low, uintptr_t high) {
    ew_told.asked = (struct ew_span){low, high};
}
static inline bool ew_accesses_ask(void) {
    return ew_told.asked.high != 0;
}

EW_DATA int64_t ew_accesses_granted;          // at the last decision
static inline uint64_t ew_step_number(void) { // of what happens now
    return ew_steps + (uint64_t)(ew_accesses_granted - ew_accesses_left - ew_accesses_held);
}

// A plain access that the program is about to make, told by another way than a hook of its size.
void ew_access(unsigned op, const void *address, size_t size, const void *pc);
EW_DATA uintptr_t ew_frames_before_start[];
EW_DATA uintptr_t *ew_frames; // next free entry of the running thread's shadow stack

// --- tsan_annotations.c: the program has said that races on this memory are expected
bool ew_expects_races(const void *address, size_t size);

// --- peek.c
bool ew_is_readable(const void *address, size_t size); // or the kernel would say EFAULT

// --- clock.c
EW_DATA int64_t ew_moved;  // since the start of the run, beside the steps
EW_DATA int64_t ew_rested; // of it: nobody ran

int64_t ew_now(void);                    // virtual nanoseconds; a look, which costs time
static inline int64_t ew_elapsed(void) { // the same without a look
    return ew_moved + (int64_t)ew_step_number();
}
static inline int64_t ew_cpu_time(void) { // of it: somebody ran
    return ew_elapsed() - ew_rested;
}
int64_t ew_thread_time(const struct ew_thread *thread);      // of that: it was this one
clockid_t ew_clock_of_thread(pid_t number);                  // which tells that time
int ew_clock_look(clockid_t clock, struct timespec *result); // clock_gettime, which nobody watches
static inline void ew_clock_pass(int64_t nanoseconds) {      // somebody has run so long
    ew_moved += nanoseconds;
}
void ew_clock_jump(int64_t when); // nobody can go on before
void ew_clock_start(void);
void ew_clock_begin(void); // from zero again, and recorded
// When this run really began, and the earliest that the recorded one may have, if it follows one.
int64_t ew_clock_began(void);
int64_t ew_clock_recorded(void);
int64_t ew_deadline(clockid_t clock, const struct timespec *when);
int64_t ew_deadline_in(int64_t nanoseconds); // from now; EW_NEVER stays

// EW_NEVER: so far away that nobody will see that moment, and nanoseconds might overflow.
#define EW_SECOND 1000000000ll
static inline int64_t ew_nanoseconds(const struct timespec *time) {
    return time->tv_sec > 4 * EW_SECOND ? EW_NEVER : time->tv_sec * EW_SECOND + time->tv_nsec;
}
static inline struct timespec ew_timespec(int64_t nanoseconds) {
    return (struct timespec){nanoseconds / EW_SECOND, nanoseconds % EW_SECOND};
}

static inline bool ew_is_time(const struct timespec *when) {
    return when->tv_nsec >= 0 && when->tv_nsec < EW_SECOND;
}
static inline bool ew_is_length(const struct timespec *length) {
    return length->tv_sec >= 0 && ew_is_time(length);
}

// --- telling.c: what happens, for whoever watches
//
// An operation is told at the moment it takes effect. `op` and `flags` are numbers of
// eitherway_format.h. A lock is ACQUIREd and RELEASEd, by readers with EW_FLAG_SHARED. What is no
// lock WAITs (told when the wait is over) and WAKEs (told before anybody is woken); a wake that
// counts together with others, such as an arrival at a barrier, has EW_FLAG_CUMULATIVE.
EW_DATA bool ew_watched; // somebody wants to be told
void ew_tell(unsigned op, unsigned flags, const void *object, size_t size, const void *pc);
// The same without being a use of the object, which nobody may destroy meanwhile.
void ew_tell_order(unsigned op, unsigned flags, const void *object, size_t size, const void *pc);
void ew_tell_used(const void *object, const void *pc); // and nothing else: a wait begins
void ew_tell_destroyed(const void *object, size_t size, const void *pc); // a write to it
// An operation on a lock that POSIX leaves undefined, told like every other.
void ew_tell_misused(unsigned op, unsigned flags, const void *lock, size_t size, const void *pc);
void ew_forget_wake(void); // the running thread's next WAIT follows no single WAKE
void ew_tell_atomic(unsigned op, const void *object, size_t size, const void *pc, int order);
void ew_tell_fence(int order, const void *pc);
void ew_tell_life(unsigned op, struct ew_thread *other, const void *pc);
void ew_tell_access(unsigned op, const void *address, size_t size, const void *pc); // a plain one

// Memory that comes and goes. What was done with it in an earlier life has nothing to do with this.
struct ew_block_of {
    const void *address;
    size_t size;   // that was asked for
    size_t usable; // at least that
    const void *pc;
};
void ew_tell_allocated(const struct ew_block_of *block, bool mine); // written by whoever allocates
void ew_tell_freed(const struct ew_block_of *block);
enum ew_memory {
    EW_MEMORY_ALLOCATED = 1,
    EW_MEMORY_FREED,
    EW_MEMORY_MAPPED,
    EW_MEMORY_THREAD_LOCAL,
};
void ew_tell_fresh(enum ew_memory what, const void *address, size_t size, const void *pc);

EW_DATA bool ew_detecting; // races are looked for
void ew_detect(void);
void ew_detect_access(unsigned op, const void *address, size_t size, const void *pc);

// --- trace.c: the same, written down
EW_DATA bool ew_tracing;
void ew_trace(unsigned op, unsigned flags, const void *object, size_t size, const void *pc);
void ew_trace_atomic(unsigned op, const void *object, size_t size, const void *pc, int order);
void ew_trace_fence(int order, const void *pc);
void ew_trace_life(unsigned op, const struct ew_thread *other, const void *pc);
void ew_trace_access(unsigned op, unsigned flags, const void *object, size_t size, const void *pc);
void ew_trace_free(const void *block, size_t size, const void *pc, bool orders); // at any address
void ew_trace_block(enum ew_memory what, const void *address, size_t size, const void *pc);
void ew_trace_tls(uint64_t pointer);                // of a thread that begins
void ew_trace_name(const struct ew_thread *thread); // which has just been given it
int64_t ew_trace_silent_accesses(void); // plain accesses from now on that are not to be told
int64_t ew_trace_held_at_end(void);     // as many are held back when the last that is told comes
struct ew_span ew_trace_span(void);     // outside of it no access is told
void ew_trace_finish(void);
void ew_trace_stop(void);  // from here on nothing is told
bool ew_trace_pause(void); // as a finish, should it be the end: exec
void ew_trace_resume(bool paused);
uint32_t ew_trace_position(void); // number of the last event
// What this thread of a branch holds is told where it synchronises from now on: the first times.
void ew_registers_await(uint32_t thread);
// Before another thread runs: what the last store wrote is looked up.
EW_DATA bool ew_trace_unsettled;
void ew_trace_settle(void);

#endif
