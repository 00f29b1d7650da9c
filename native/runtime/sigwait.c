// SPDX-License-Identifier: Apache-2.0
// Waiting for signals: with a handler (sigsuspend, pause) or instead of one (sigwait).
#include "channels.h"
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

// Nothing but signals ends it; those of the outside are waited for really.
static enum ew_woken wait_for_signals(int64_t deadline) {
    struct pollfd none;
    return ew_wait_outside(&none, 0, deadline);
}

// Returns when a handler has run.
static int suspend(uint64_t mask) {
    struct ew_life *life = &ew_self->life;
    uint64_t before = life->mask;
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    life->interrupted = EW_UNDISTURBED;
    ew_mask_set(mask);
    ew_look_for_signals();
    ew_attend(false);
    while (life->interrupted == EW_UNDISTURBED && !ew_cancel_is_due(ew_self))
        wait_for_signals(EW_NEVER);
    ew_mask_set(before);
    ew_testcancel();
    ew_attend(false);
    return (int)ew_result(-EINTR);
}

EW_EXPORT int sigsuspend(const sigset_t *mask) {
    return suspend(SET(mask));
}

EW_EXPORT int __sigsuspend(const sigset_t *mask) {
    return suspend(SET(mask));
}

EW_EXPORT int pause(void) {
    return suspend(ew_self->life.mask);
}

static void end_await(void *nothing) {
    (void)nothing;
    ew_await_end();
}

// 0, or EAGAIN when the time is over, or EINTR when a handler of another signal has run.
static int take_awaited(uint64_t set, siginfo_t *info, int64_t deadline, bool now) {
    int error = -1;
    ew_await_begin(set & ~NEVER_BLOCKED);
    EW_AFTERWARDS(end_await, NULL);
    for (bool last = now; error < 0;) {
        ew_look_for_signals();
        if (ew_signal_take(set, info))
            error = 0;
        else if (last)
            error = EAGAIN;
        else if (ew_cancel_is_due(ew_self))
            error = ECANCELED;
        else
            last = wait_for_signals(deadline) == EW_TIMED_OUT;
        if (error < 0 && !last && ew_interrupted(true))
            error = EINTR;
    }
    return error;
}

static int await(uint64_t set, siginfo_t *info, int64_t deadline, bool now, const void *pc) {
    int error = take_awaited(set, info, deadline, now);
    ew_testcancel();
    if (!error)
        ew_signal_taken(info->si_signo, pc);
    return error;
}

EW_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *limit) {
    siginfo_t taken;
    if (limit && !ew_is_length(limit))
        return (int)ew_result(-EINVAL);
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    ew_self->life.interrupted = EW_UNDISTURBED;
    int64_t length = limit ? ew_nanoseconds(limit) : EW_NEVER;
    int error = await(SET(set), &taken, ew_deadline_in(length), length == 0, PC);
    if (error)
        return (int)ew_result(-error);
    if (info)
        *info = taken;
    return taken.si_signo;
}

EW_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
    return sigtimedwait(set, info, NULL);
}

EW_EXPORT int sigwait(const sigset_t *set, int *number) {
    siginfo_t taken;
    int error;
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    do {
        ew_self->life.interrupted = EW_UNDISTURBED;
        error = await(SET(set), &taken, EW_NEVER, false, PC);
    } while (error == EINTR);
    if (!error)
        *number = taken.si_signo;
    return error;
}

// --- signals that are read

// Which descriptors tell of signals; of those with higher numbers none is known.
#define KNOWN 4096u
EW_LARGE static bool signalfds[KNOWN];
static bool any;

static void set_signalfd(int descriptor, bool is) {
    if ((unsigned)descriptor < KNOWN)
        signalfds[descriptor] = is;
    any |= is;
}

static bool is_signalfd(int descriptor) {
    return any && (unsigned)descriptor < KNOWN && signalfds[descriptor];
}

void ew_signalfds_closed(unsigned first, unsigned last) {
    for (unsigned i = first; any && i <= last && i < KNOWN; i++)
        signalfds[i] = false;
}

void ew_signalfd_copied(int from, int to) {
    if (any)
        set_signalfd(to, is_signalfd(from));
}

void ew_signals_read(int descriptor, const void *told, long size, const void *pc) {
    const struct signalfd_siginfo *signal = told;
    if (LIKELY(!is_signalfd(descriptor)))
        return;
    for (; size >= (long)sizeof *signal; size -= (long)sizeof *signal, signal++)
        if (signal->ssi_signo >= 1 && signal->ssi_signo <= SIGNALS)
            ew_signal_taken((int)signal->ssi_signo, pc);
}

EW_EXPORT int signalfd(int descriptor, const sigset_t *set, int flags) {
    long result = raw6(SYS_signalfd4, descriptor, (long)set, 8, flags, 0, 0);
    if (result < 0)
        return (int)ew_result(result);
    ew_signal_watch(SET(set));
    set_signalfd((int)result, true);
    return (int)result;
}
