// SPDX-License-Identifier: Apache-2.0
// Green threads that glibc takes for its own.
//
// A *donor* is a real pthread that glibc has made (thread control block, static TLS, dtv) and whose
// kernel thread has left again by a raw exit. The carrier runs a green thread by loading the
// donor's thread pointer and a stack of ours; everything in libc that asks "who am I" then answers
// rightly. When a green thread is over, its donor's TLS is put back as it was and serves again.
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

void ew_thread_start(void); // context.S

static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static size_t tls_size; // bytes of static TLS below the thread pointer

struct ew_donor {
    uint64_t fs;
    char *tls; // its static TLS as it was when new
    int alive; // cleared and woken by the kernel when its kernel thread is gone
    struct ew_donor *next;
};
static struct ew_donor *idle_donors;

static uint64_t thread_pointer(void) {
    uint64_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self)); // the TCB's first word points to itself
    return self;
}

// --- donors

static void *donor_main(void *argument) {
    struct ew_donor *donor = argument;
    donor->fs = thread_pointer();
    memcpy(donor->tls, (char *)donor->fs - tls_size, tls_size);
    raw1(SYS_set_tid_address, (long)&donor->alive);
    raw1(SYS_exit, 0); // past glibc: it must go on believing that this thread lives
    __builtin_unreachable();
}

static void block_signals(uint64_t *old) {
    uint64_t all = ~0ul;
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)old, sizeof all, 0, 0);
}

static void restore_signals(const uint64_t *old) {
    raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof *old, 0, 0);
}

static int donor_create(struct ew_donor **result) {
    struct ew_donor *donor = ew_pages(sizeof *donor + tls_size);
    donor->tls = (char *)(donor + 1);
    donor->alive = 1;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 65536);
    uint64_t mask;
    block_signals(&mask); // a signal must not be handled by a kernel thread that is about to leave
    pthread_t handle;
    int error = real_create(&handle, &attributes, donor_main, donor);
    restore_signals(&mask);
    pthread_attr_destroy(&attributes);
    if (error)
        return error;
    int seen;
    while ((seen = __atomic_load_n(&donor->alive, __ATOMIC_ACQUIRE)))
        raw6(SYS_futex, (long)&donor->alive, FUTEX_WAIT, seen, 0, 0, 0);
    *result = donor;
    return 0;
}

// TLS of libraries that were loaded at run time was allocated for the previous user: let the next
// one allocate its own. The dtv is glibc's array of {address, block to free}; entry -1 holds its
// length, entry 0 its generation.
static void dtv_reset(uint64_t fs) {
    struct entry {
        void *address, *to_free;
    } *dtv = *(struct entry **)(fs + sizeof(void *));
    size_t length = (size_t)dtv[-1].address;
    for (size_t i = 1; i <= length; i++)
        if (dtv[i].to_free) {
            dtv[i].to_free = NULL;
            dtv[i].address = (void *)-1;
        }
}

static int donor_take(struct ew_donor **result) {
    struct ew_donor *donor = idle_donors;
    if (!donor)
        return donor_create(result);
    idle_donors = donor->next;
    memcpy((char *)donor->fs - tls_size, donor->tls, tls_size);
    dtv_reset(donor->fs);
    *result = donor;
    return 0;
}

static void donor_give_back(struct ew_donor *donor) {
    donor->next = idle_donors;
    idle_donors = donor;
}

void ew_threads_prepare(uint32_t count) {
    while (count--) {
        struct ew_donor *donor;
        if (donor_create(&donor))
            return; // they are made when they are needed, or not at all
        donor_give_back(donor);
    }
}

// --- stacks

#define GUARD 4096
static size_t default_stack_size(void) {
    struct {
        uint64_t soft, hard;
    } limit;
    if (raw6(SYS_prlimit64, 0, 3 /* RLIMIT_STACK */, 0, (long)&limit, 0, 0) < 0 ||
        limit.soft == UINT64_MAX)
        return 8u << 20;
    return limit.soft;
}

static int stack_create(struct ew_thread *thread, const pthread_attr_t *attributes) {
    void *given = NULL;
    size_t size = 0;
    if (attributes)
        pthread_attr_getstacksize(attributes, &size);
    if (attributes && pthread_attr_getstack(attributes, &given, &size) == 0 && given) {
        thread->stack = given;
        thread->stack_size = size;
        thread->owns_stack = false;
        return 0;
    }
    size = size ? (size + 4095) & ~4095ul : default_stack_size();
    long base = raw6(SYS_mmap, 0, (long)(size + GUARD), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base < 0)
        return EAGAIN;
    raw3(SYS_mprotect, base, GUARD, PROT_NONE);
    thread->stack = (char *)base + GUARD;
    thread->stack_size = size;
    thread->owns_stack = true;
    return 0;
}

static void stack_destroy(struct ew_thread *thread) {
    if (thread->owns_stack)
        raw3(SYS_munmap, (long)(thread->stack - GUARD), (long)(thread->stack_size + GUARD), 0);
    thread->stack = NULL;
}

// A call takes at least a return address and its alignment of the stack, and one entry here: the
// stack ends before this does.
static size_t frames_bytes(const struct ew_thread *thread) {
    return thread->stack_size / 16 * sizeof(uintptr_t) + 4096;
}

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

// --- life of a thread

static struct ew_thread *thread_create(void *(*function)(void *), void *argument) {
    struct ew_thread *thread = ew_pages(sizeof *thread);
    thread->function = function;
    thread->argument = argument;
    thread->deadline = EW_NEVER;
    return thread;
}

static void thread_destroy(struct ew_thread *thread) {
    donor_give_back(thread->donor);
    stack_destroy(thread);
    raw3(SYS_munmap, (long)thread->frames_base, (long)frames_bytes(thread), 0);
    thread->frames_base = NULL;
    thread->fs = 0; // no pthread_t any more; the rest stays for those who ask by number
}

_Noreturn void ew_thread_end(void *result) {
    struct ew_thread *self = ew_self;
    self->result = result;
    ew_run_thread_destructors();
    ew_mutexes_of_ending();
    if (UNLIKELY(ew_tracing))
        ew_trace_life(EW_OP_END, self, (char *)self->function + 1);
    ew_wake_all(self);
    ew_leave();
}

__attribute__((used)) void ew_thread_main(void) {
    if (UNLIKELY(ew_tracing))
        ew_trace_life(EW_OP_BEGIN, ew_self, (char *)ew_self->function + 1);
    ew_thread_end(ew_self->function(ew_self->argument));
}

struct ew_thread *ew_thread_of(pthread_t handle) {
    for (uint32_t i = 0; i < ew_thread_count(); i++) {
        struct ew_thread *thread = ew_thread_at(i);
        if (thread->fs == (uint64_t)handle)
            return thread;
    }
    return NULL;
}

EW_EXPORT int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                             void *(*function)(void *), void *argument) {
    if (!ew_running)
        ew_cannot("a thread was created before the runtime was ready");
    ew_begin();
    struct ew_thread *thread = thread_create(function, argument);
    int error = donor_take(&thread->donor);
    if (!error)
        error = stack_create(thread, attributes);
    if (error)
        return error;
    thread->fs = thread->donor->fs;
    int detach = PTHREAD_CREATE_JOINABLE;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detach);
    thread->detached = detach == PTHREAD_CREATE_DETACHED;
    thread->frames = thread->frames_base = ew_pages(frames_bytes(thread));
    first_frame(thread);
    *handle = (pthread_t)thread->fs;
    ew_thread_add(thread);
    if (UNLIKELY(ew_tracing))
        ew_trace_life(EW_OP_START, thread, __builtin_return_address(0));
    ew_point(EW_WHY_START);
    return 0;
}

EW_EXPORT int pthread_join(pthread_t handle, void **result) {
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    if (thread == ew_self)
        return EDEADLK;
    if (thread->detached || thread->joined_by_someone)
        return EINVAL;
    thread->joined_by_someone = true;
    ew_point(EW_WHY_SYNC);
    while (thread->state != EW_ENDED)
        ew_wait(thread, EW_NEVER);
    if (UNLIKELY(ew_tracing))
        ew_trace_life(EW_OP_JOIN, thread, __builtin_return_address(0));
    if (result)
        *result = thread->result;
    thread_destroy(thread);
    return 0;
}

EW_EXPORT int pthread_detach(pthread_t handle) {
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

static int measure_tls(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    uint64_t self = *(uint64_t *)argument;
    uint64_t block = (uint64_t)info->dlpi_tls_data;
    if (block && block < self && self - block < (1u << 24) && self - block > tls_size)
        tls_size = self - block;
    return 0;
}

void ew_threads_start(struct ew_thread *first) {
    uint64_t self = thread_pointer();
    dl_iterate_phdr(measure_tls, &self);
    tls_size = (tls_size + 63) & ~63ul;
    real_create = dlsym(RTLD_NEXT, "pthread_create");
    if (!real_create)
        ew_cannot("libc has no pthread_create");
    first->fs = self;
    first->deadline = EW_NEVER;
    first->stack_size = default_stack_size();
    first->frames = first->frames_base = ew_pages(frames_bytes(first));
}
