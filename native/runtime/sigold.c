// SPDX-License-Identifier: Apache-2.0
// The older ways to say what sigaction, sigprocmask and sigsuspend say.
#include "signals.h"

#include <errno.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

typedef void simple_handler(int);
static uint64_t interrupting; // siginterrupt: what `signal` sets for these does not restart

static simple_handler *set_handler(int number, simple_handler *handler, int flags, bool has_mask) {
    struct sigaction new, old;
    memset(&new, 0, sizeof new);
    new.sa_handler = handler;
    new.sa_flags = flags;
    if (has_mask && ew_signal_is_valid(number))
        SET(&new.sa_mask) = BIT(number);
    if (handler == SIG_ERR || !ew_signal_is_valid(number)) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return sigaction(number, &new, &old) < 0 ? SIG_ERR : old.sa_handler;
}

EW_EXPORT simple_handler *signal(int number, simple_handler *handler) {
    bool interrupts = ew_signal_is_valid(number) && interrupting & BIT(number);
    return set_handler(number, handler, interrupts ? 0 : SA_RESTART, true);
}

EW_EXPORT simple_handler *bsd_signal(int number, simple_handler *handler) {
    return signal(number, handler);
}

EW_EXPORT simple_handler *ssignal(int number, simple_handler *handler) {
    return signal(number, handler);
}

EW_EXPORT simple_handler *sysv_signal(int number, simple_handler *handler) {
    return set_handler(number, handler, (int)(SA_RESETHAND | SA_NODEFER), false);
}

EW_EXPORT simple_handler *__sysv_signal(int number, simple_handler *handler) {
    return sysv_signal(number, handler);
}

EW_EXPORT int siginterrupt(int number, int interrupts) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) < 0)
        return -1;
    if (interrupts) {
        interrupting |= BIT(number);
        action.sa_flags &= ~SA_RESTART;
    } else {
        interrupting &= ~BIT(number);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

EW_EXPORT int sigignore(int number) {
    return set_handler(number, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

// --- masks

static int change(int how, int number) {
    sigset_t set;
    memset(&set, 0, sizeof set);
    if (number < 1 || number > SIGNALS) {
        errno = EINVAL;
        return -1;
    }
    SET(&set) = BIT(number);
    return sigprocmask(how, &set, NULL);
}

EW_EXPORT int sighold(int number) {
    return change(SIG_BLOCK, number);
}

EW_EXPORT int sigrelse(int number) {
    return change(SIG_UNBLOCK, number);
}

static int change_low(int how, int mask) {
    sigset_t set, old;
    memset(&set, 0, sizeof set);
    SET(&set) = (unsigned)mask;
    sigprocmask(how, &set, &old);
    return (int)SET(&old);
}

EW_EXPORT int sigblock(int mask) {
    return change_low(SIG_BLOCK, mask);
}

EW_EXPORT int sigsetmask(int mask) {
    return change_low(SIG_SETMASK, mask);
}

EW_EXPORT int siggetmask(void) {
    return change_low(SIG_BLOCK, 0);
}

EW_EXPORT simple_handler *sigset(int number, simple_handler *handler) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) < 0)
        return SIG_ERR;
    bool was_held = ew_self->life.mask & BIT(number);
    if (handler == SIG_HOLD)
        sighold(number);
    else if (set_handler(number, handler, 0, false) == SIG_ERR)
        return SIG_ERR;
    else
        sigrelse(number);
    return was_held ? SIG_HOLD : before.sa_handler;
}

EW_EXPORT int __sigpause(int number_or_mask, int is_number) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    if (!is_number)
        SET(&mask) = (unsigned)number_or_mask;
    else if (number_or_mask >= 1 && number_or_mask <= SIGNALS)
        SET(&mask) &= ~BIT(number_or_mask);
    return sigsuspend(&mask);
}

EW_EXPORT int __xpg_sigpause(int number) {
    return __sigpause(number, 1);
}
