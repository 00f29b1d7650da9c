// SPDX-License-Identifier: Apache-2.0
// SYS_futex among green threads: std::atomic::wait, futures and home-made locks end here.
//
// The kernel could only put the carrier to sleep. Waiters stand in one list in order of arrival;
// which of them a wake takes is a choice, as futex(2) promises nothing.
#include "futex.h"
#include "sync.h"
#include "threads.h"

#include <errno.h>
#include <linux/futex.h>

struct waiter { // on the stack of the thread that waits
    const uint32_t *word;
    uint32_t bits;
    bool woken;
    struct waiter *next, *previous;
};
static struct waiter *first, *last;

static void add(struct waiter *waiter) {
    waiter->previous = last;
    waiter->next = NULL;
    *(last ? &last->next : &first) = waiter;
    last = waiter;
}

static void drop(struct waiter *waiter) {
    *(waiter->previous ? &waiter->previous->next : &first) = waiter->next;
    *(waiter->next ? &waiter->next->previous : &last) = waiter->previous;
}

void ew_futex_forked(void) { // the others' stacks, where they wait, are nobody's now
    first = last = NULL;
}

static bool matches(const struct waiter *waiter, const uint32_t *word, uint32_t bits) {
    return waiter->word == word && (waiter->bits & bits);
}

static uint32_t count_waiters(const uint32_t *word, uint32_t bits) {
    uint32_t count = 0;
    for (const struct waiter *at = first; at; at = at->next)
        count += matches(at, word, bits);
    return count;
}

static struct waiter *waiter_at(const uint32_t *word, uint32_t bits, uint32_t index) {
    struct waiter *at = first;
    while (!matches(at, word, bits) || index--)
        at = at->next;
    return at;
}

// One of those who wait, or NULL.
static struct waiter *pick(const uint32_t *word, uint32_t bits) {
    uint32_t count = count_waiters(word, bits);
    return count ? waiter_at(word, bits, ew_pick(count)) : NULL;
}

static long wake(const uint32_t *word, uint32_t limit, uint32_t bits) {
    long woken = 0;
    for (struct waiter *waiter; woken < limit && (waiter = pick(word, bits)); woken++) {
        drop(waiter);
        waiter->woken = true;
        ew_wake_one(waiter);
    }
    return woken;
}

static long move(const uint32_t *from, const uint32_t *to, uint32_t limit) {
    long moved = 0;
    for (struct waiter *at = first, *next; at && moved < limit; at = next) {
        next = at->next;
        if (at->word == from) {
            at->word = to;
            moved++;
        }
    }
    return moved;
}

// --- waiting

struct wanted { // another value, which another process may store
    const uint32_t *word;
    uint32_t value;
};

static bool is_other(void *argument) {
    const struct wanted *wanted = argument;
    return __atomic_load_n(wanted->word, __ATOMIC_SEQ_CST) != wanted->value;
}

// A process that wakes us over there finds nobody in the kernel; so it is its store that we wait
// for. Who only wakes without a store is not heard.
static enum ew_woken wait_elsewhere(struct waiter *self, uint32_t value, int64_t deadline) {
    struct wanted wanted = {self->word, value};
    enum ew_woken woken = ew_wait_elsewhere(deadline);
    if (!self->woken && ew_try_elsewhere(is_other, &wanted)) {
        drop(self);
        self->woken = true;
    }
    return woken;
}

static void end_wait(void *waiter) {
    ew_self->life.handler_helps = false;
    ew_wants(0, 0, NULL, 0, NULL);
    if (!((struct waiter *)waiter)->woken)
        drop(waiter);
}

// Until it is woken, or the time is over, or a handler has run.
static enum ew_woken stand(struct waiter *self, const struct ew_futex_call *call, int64_t deadline,
                           bool shared) {
    enum ew_woken woken = EW_WOKEN;
    add(self);
    ew_wants(EW_OP_WAIT, 0, call->word, sizeof *call->word, call->pc);
    ew_self->life.handler_helps = true;
    ew_self->life.interrupted = EW_UNDISTURBED;
    EW_AFTERWARDS(end_wait, self);
    while (!self->woken && woken == EW_WOKEN && !ew_interrupted(deadline != EW_NEVER)) {
        woken = shared ? wait_elsewhere(self, call->value, deadline) : ew_wait(self, deadline);
        if (ew_interrupted(true) && !shared && *call->word != call->value)
            break; // it begins again, and sees that
    }
    return woken;
}

static long wait(const struct ew_futex_call *call, int64_t deadline, uint32_t bits) {
    const uint32_t *word = call->word;
    bool shared = !(call->operation & FUTEX_PRIVATE_FLAG) && ew_is_shared_memory(word);
    if (shared ? ew_try_elsewhere(is_other, &(struct wanted){word, call->value})
               : __atomic_load_n(word, __ATOMIC_SEQ_CST) != call->value)
        return -EAGAIN;
    struct waiter self = {.word = word, .bits = bits};
    enum ew_woken woken = stand(&self, call, deadline, shared);
    // It gives up when the word has changed, so that who stores and then wakes is always heard.
    if (UNLIKELY(ew_watched))
        ew_tell(EW_OP_WAIT, EW_FLAG_TRY | (self.woken ? 0 : EW_FLAG_FAILED), word, sizeof *word,
                call->pc);
    if (self.woken || woken == EW_TIMED_OUT)
        return self.woken ? 0 : -ETIMEDOUT;
    return ew_interrupted(deadline != EW_NEVER) ? -EINTR : -EAGAIN;
}

// FUTEX_WAIT counts from now, FUTEX_WAIT_BITSET names a moment.
static long timed_wait(const struct ew_futex_call *call, uint32_t bits) {
    int64_t deadline = EW_NEVER;
    if (call->timeout && !ew_is_readable(call->timeout, sizeof *call->timeout))
        return -EFAULT;
    if (call->timeout && !ew_is_length(call->timeout))
        return -EINVAL;
    if (!ew_is_readable(call->word, sizeof *call->word))
        return -EFAULT;
    clockid_t clock = call->operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    if (call->timeout && (call->operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
        deadline = ew_deadline_in(ew_nanoseconds(call->timeout));
    else if (call->timeout)
        deadline = ew_deadline(clock, call->timeout);
    return wait(call, deadline, bits);
}

// --- waking

// Only the address counts: who was waited for may have given the memory back by then.
static void tell_wake(const struct ew_futex_call *call, const uint32_t *word) {
    if (UNLIKELY(ew_watched))
        ew_tell_order(EW_OP_WAKE, 0, word, sizeof *word, call->pc);
}

// Without FUTEX_PRIVATE_FLAG there may be waiters in other processes, whom the kernel knows.
static long wake_elsewhere(const struct ew_futex_call *call, const uint32_t *word, long limit) {
    if (call->operation & FUTEX_PRIVATE_FLAG || limit <= 0)
        return 0;
    long woken = raw6(SYS_futex, (long)word, FUTEX_WAKE, limit, 0, 0, 0);
    return woken > 0 ? woken : 0;
}

static long wake_both(const struct ew_futex_call *call, const uint32_t *word, uint32_t limit,
                      uint32_t bits) {
    tell_wake(call, word);
    long woken = wake(word, limit, bits);
    return woken + wake_elsewhere(call, word, (long)limit - woken);
}

static long requeue(const struct ew_futex_call *call, bool compare) {
    uint32_t limit = (uint32_t)(uintptr_t)call->timeout; // this operation has a number there
    if ((int)call->value < 0 || (int)limit < 0)
        return -EINVAL;
    if (compare && __atomic_load_n(call->word, __ATOMIC_SEQ_CST) != call->value3)
        return -EAGAIN;
    long woken = wake_both(call, call->word, call->value, FUTEX_BITSET_MATCH_ANY);
    return woken +
           move(call->word, call->word2, limit); // futex(2) says otherwise for FUTEX_REQUEUE
}

static uint32_t changed(uint32_t old, uint32_t operation, uint32_t argument) {
    switch (operation) {
    case FUTEX_OP_SET:
        return argument;
    case FUTEX_OP_ADD:
        return old + argument;
    case FUTEX_OP_OR:
        return old | argument;
    case FUTEX_OP_ANDN:
        return old & ~argument;
    default:
        return old ^ argument;
    }
}

static bool compares(int32_t old, uint32_t comparison, int32_t argument) {
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        return old == argument;
    case FUTEX_OP_CMP_NE:
        return old != argument;
    case FUTEX_OP_CMP_LT:
        return old < argument;
    case FUTEX_OP_CMP_LE:
        return old <= argument;
    case FUTEX_OP_CMP_GT:
        return old > argument;
    default:
        return old >= argument;
    }
}

// value3: shift(1) | operation(3) | comparison(4) | its argument(12, signed) | the other(12,
// signed)
static long wake_op(const struct ew_futex_call *call) {
    uint32_t code = call->value3;
    uint32_t operation = code >> 28 & 7, comparison = code >> 24 & 15;
    int32_t argument = (int32_t)(code << 8) >> 20, compared = (int32_t)(code << 20) >> 20;
    if (operation > FUTEX_OP_XOR || comparison > FUTEX_OP_CMP_GE)
        return -ENOSYS;
    if (code >> 31)
        argument = (int32_t)(1u << (argument & 31));
    uint32_t old = *call->word2;
    *call->word2 = changed(old, operation, (uint32_t)argument);
    long woken = wake_both(call, call->word, call->value, FUTEX_BITSET_MATCH_ANY);
    if (compares((int32_t)old, comparison, compared))
        woken += wake_both(call, call->word2, (uint32_t)(uintptr_t)call->timeout,
                           FUTEX_BITSET_MATCH_ANY);
    return woken;
}

static bool is_address(const uint32_t *word) {
    return (uintptr_t)word >= 4096;
}

static long serve(const struct ew_futex_call *call) {
    switch (call->operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return timed_wait(call, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return call->value3 ? timed_wait(call, call->value3) : -EINVAL;
    case FUTEX_WAKE:
        return wake_both(call, call->word, call->value, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return call->value3 ? wake_both(call, call->word, call->value, call->value3) : -EINVAL;
    case FUTEX_REQUEUE:
        return requeue(call, false);
    case FUTEX_CMP_REQUEUE:
        return requeue(call, true);
    case FUTEX_WAKE_OP:
        return wake_op(call);
    default:
        ew_report("SYS_futex", "operations with priority inheritance are not supported");
        return -ENOSYS;
    }
}

long ew_futex(const struct ew_futex_call *call) {
    ew_point(EW_WHY_SYNC);
    if ((uintptr_t)call->word % sizeof *call->word)
        return -EINVAL;
    return is_address(call->word) ? serve(call) : -EFAULT;
}
