// SPDX-License-Identifier: Apache-2.0
// Cancellation, pthread_exit, and the unwinding that both end in.
//
// C++ destructors and C cleanup handlers compiled with -fexceptions run as landing pads of a forced
// unwind. Handlers of plain C stand in a list of jump buffers: the unwind ends at the frame of the
// first, which runs its handler and asks for the next.
#include "channels.h"
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

// --- unwinding

// A C program is not linked with the unwinder; glibc too loads it when it is first needed.
static _Unwind_Reason_Code (*forced_unwind)(struct _Unwind_Exception *, _Unwind_Stop_Fn, void *);
static _Unwind_Word (*frame_of)(struct _Unwind_Context *);

// Used by unwinding.S too, for what the compiler's own clean-up code calls.
void *ew_unwinder(const char *name) {
    static void *library;
    if (!library)
        library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function)
        ew_cannot("libgcc_s.so.1 must be installed for pthread_exit and pthread_cancel to work");
    return function;
}

static void load_unwinder(void) {
    if (forced_unwind)
        return;
    *(void **)&frame_of = ew_unwinder("_Unwind_GetCFA");
    *(void **)&forced_unwind = ew_unwinder("_Unwind_ForcedUnwind");
}

// What __pthread_register_cancel keeps in the buffer's own words.
enum { PREVIOUS, OLD_CLEANUP, ANYWHERE };

static void run_old_cleanups(struct ew_life *life, const void *until, bool all, uintptr_t frame) {
    while (life->old_cleanup != until && (all || (uintptr_t)life->old_cleanup < frame)) {
        struct _pthread_cleanup_buffer *buffer = life->old_cleanup;
        life->old_cleanup = buffer->__prev;
        buffer->__routine(buffer->__arg);
    }
}

static void *top_of_stack(const struct ew_thread *thread) {
    extern void *__libc_stack_end; // where the kernel put the first thread's
    uintptr_t top = thread->life.first ? (uintptr_t)__libc_stack_end
                                       : (uintptr_t)thread->stack + thread->stack_size;
    return (void *)(top & ~63ul);
}

static _Unwind_Reason_Code at_frame(int version, _Unwind_Action actions,
                                    _Unwind_Exception_Class class,
                                    struct _Unwind_Exception *exception,
                                    struct _Unwind_Context *context, void *argument) {
    (void)version, (void)class, (void)exception;
    __pthread_unwind_buf_t *buffer = argument;
    bool end = actions & _UA_END_OF_STACK;
    uintptr_t frame = end ? UINTPTR_MAX : frame_of(context);
    bool arrived = end || (buffer && frame >= ew_jump_target(buffer->__cancel_jmp_buf));
    run_old_cleanups(&ew_self->life, buffer ? buffer->__pad[OLD_CLEANUP] : NULL, arrived, frame);
    if (!arrived)
        return _URC_NO_REASON;
    if (buffer)
        ew_jump_back(buffer->__cancel_jmp_buf, 1);
    ew_leave_blocks(UINTPTR_MAX);
    ew_restart(top_of_stack(ew_self), ew_thread_over);
}

// A catch (...) has swallowed the unwinding, which C++ does not allow.
static void swallowed(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception) {
    (void)reason, (void)exception;
    static const char text[] = "FATAL: exception not rethrown\n";
    ew_say(&(struct iovec){(char *)text, sizeof text - 1}, 1);
    abort();
}

static _Noreturn void unwind(__pthread_unwind_buf_t *until) {
    struct _Unwind_Exception *exception = (void *)ew_self->life.exception;
    _Static_assert(sizeof *exception <= sizeof ew_self->life.exception, "does not fit");
    load_unwinder();
    memset(exception, 0, sizeof *exception);
    exception->exception_cleanup = swallowed;
    forced_unwind(exception, at_frame, until);
    ew_bug("the unwinder came back");
}

static _Noreturn void leave(void *result) {
    ew_self->result = result;
    ew_self->life.leaving = true;
    unwind(ew_self->life.cleanup);
}

EW_EXPORT _Noreturn void pthread_exit(void *result) {
    leave(result);
}

// --- cleanup handlers of plain C

EW_EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
    struct ew_life *life = &ew_self->life;
    buffer->__pad[PREVIOUS] = life->cleanup;
    buffer->__pad[OLD_CLEANUP] = life->old_cleanup;
    life->cleanup = buffer;
}

EW_EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer) {
    ew_self->life.cleanup = buffer->__pad[PREVIOUS];
}

EW_EXPORT _Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buffer) {
    ew_self->life.cleanup = buffer->__pad[PREVIOUS];
    unwind(buffer->__pad[PREVIOUS]);
}

EW_EXPORT void __pthread_register_cancel_defer(__pthread_unwind_buf_t *buffer) {
    struct ew_life *life = &ew_self->life;
    __pthread_register_cancel(buffer);
    buffer->__pad[ANYWHERE] = (void *)(uintptr_t)life->cancel_anywhere;
    life->cancel_anywhere = false;
}

EW_EXPORT void __pthread_unregister_cancel_restore(__pthread_unwind_buf_t *buffer) {
    struct ew_life *life = &ew_self->life;
    __pthread_unregister_cancel(buffer);
    life->cancel_anywhere = buffer->__pad[ANYWHERE];
    ew_cancel_if_anywhere();
}

// What programs built against glibc 2.2 call.
EW_EXPORT void _pthread_cleanup_push(struct _pthread_cleanup_buffer *buffer,
                                     void (*routine)(void *), void *argument) {
    buffer->__routine = routine;
    buffer->__arg = argument;
    buffer->__prev = ew_self->life.old_cleanup;
    ew_self->life.old_cleanup = buffer;
}

EW_EXPORT void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *buffer, int execute) {
    ew_self->life.old_cleanup = buffer->__prev;
    if (execute)
        buffer->__routine(buffer->__arg);
}

// --- cancellation

bool ew_cancel_is_due(const struct ew_thread *thread) {
    const struct ew_life *life = &thread->life;
    return life->cancelled && !life->cancel_disabled && !life->leaving;
}

void ew_testcancel(void) {
    if (LIKELY(!ew_self || !ew_cancel_is_due(ew_self)))
        return;
    ew_common_took(EW_CANCELLATIONS, PC);
    leave(PTHREAD_CANCELED);
}

void ew_cancel_if_anywhere(void) {
    if (ew_self->life.cancel_anywhere)
        ew_testcancel();
}

EW_EXPORT void pthread_testcancel(void) {
    ew_testcancel();
}

EW_EXPORT int pthread_setcancelstate(int state, int *old) {
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
        return EINVAL;
    if (!ew_self)
        return 0;
    struct ew_life *life = &ew_self->life;
    if (old)
        *old = life->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    life->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    ew_cancel_if_anywhere();
    return 0;
}

EW_EXPORT int pthread_setcanceltype(int type, int *old) {
    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
        return EINVAL;
    if (!ew_self)
        return 0;
    struct ew_life *life = &ew_self->life;
    if (old)
        *old = life->cancel_anywhere ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    life->cancel_anywhere = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    ew_cancel_if_anywhere();
    return 0;
}

EW_EXPORT int pthread_cancel(pthread_t handle) {
    ew_point(EW_WHY_SYNC);
    struct ew_thread *thread = ew_thread_of(handle);
    if (!thread)
        return ESRCH;
    if (thread->state == EW_ENDED)
        return 0;
    load_unwinder();
    ew_common_put(EW_CANCELLATIONS, PC);
    thread->life.cancelled = true;
    if (thread == ew_self) {
        ew_cancel_if_anywhere();
        return 0;
    }
    if (!ew_cancel_is_due(thread))
        return 0;
    thread->life.attention |= thread->life.cancel_anywhere;
    if (thread->state == EW_BLOCKED && thread->life.cancellable)
        ew_unblock(thread, false);
    return 0;
}
