// SPDX-License-Identifier: Apache-2.0
// poll, select and their kin: several descriptors at once.
#include "polling.h"
#include "channels.h"
#include "input.h"
#include "libc.h"
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>

// Descriptors may have other numbers than in the run that is known: see asks.c.
static void take_ready(struct pollfd *polled, nfds_t count) {
    for (nfds_t i = 0; i < count; i++) {
        struct pollfd one = polled[i];
        if (ew_is_outside(one.fd))
            one.fd = -1; // see ew_poll_is_true
        ew_input(EW_INPUT_READY, &one, sizeof one, sizeof one);
        polled[i].revents = one.revents;
    }
}

long ew_poll_now(struct pollfd *polled, nfds_t count) {
    long ready;
    do
        ready = raw3(SYS_poll, (long)polled, (long)count, 0);
    while (ready == -EINTR);
    return ready;
}

bool ew_poll_is_true(const struct pollfd *told) {
    struct pollfd now = {told->fd, told->events, 0};
    return !told->revents || told->fd < 0 || ew_is_outside(told->fd) ||
           (ew_poll_now(&now, 1) > 0 && now.revents & told->revents);
}

long ew_look_at(struct pollfd *polled, nfds_t count, bool outside) {
    if (!outside)
        return ew_poll_now(polled, count);
    long ready = ew_input_call(SYS_poll, (long)polled, (long)count, 0, 0, 0, 0);
    if (ready > 0)
        take_ready(polled, count);
    ew_pace();
    return ready;
}

static bool any_outside(const struct pollfd *polled, nfds_t count) {
    for (nfds_t i = 0; i < count; i++)
        if (polled[i].fd >= 0 && ew_is_outside(polled[i].fd))
            return true;
    return false;
}

static long wait_until(struct pollfd *polled, nfds_t count, int64_t deadline, bool now) {
    bool outside = any_outside(polled, count);
    for (bool last = now;;) {
        long ready = ew_look_at(polled, count, outside);
        if (ready || last)
            return ready;
        if (ew_interrupted(true))
            return -EINTR;
        last = (outside ? ew_wait_outside : ew_wait_within)(polled, (uint32_t)count, deadline) ==
               EW_TIMED_OUT;
        ew_testcancel();
    }
}

// Without descriptors it is a sleep, which only a signal can cut short.
static long rest(int64_t deadline, bool now) {
    struct pollfd none;
    while (!now) {
        if (ew_interrupted(true))
            return -EINTR;
        now = (deadline == EW_NEVER ? ew_wait_outside(&none, 0, deadline)
                                    : ew_wait_cancellable(&none, deadline)) == EW_TIMED_OUT;
        ew_testcancel();
    }
    return 0;
}

#define FEW 64

static void touch_results(const struct pollfd *polled, nfds_t count, const void *pc) {
    for (nfds_t i = 0; UNLIKELY(ew_watched) && i < count; i++)
        ew_touch(EW_OP_STORE, &polled[i].revents, sizeof polled[i].revents, pc);
}

// The program's array is not waited on: one that it closes meanwhile changes its number. `pc` NULL:
// the array is not the program's.
static long wait_on_copy(struct pollfd *polled, nfds_t count, int64_t deadline, bool now,
                         const void *pc) {
    struct pollfd few[FEW], *copy = few;
    if (count > FEW)
        copy = ew_pages(count * sizeof *copy);
    if (pc)
        ew_touch(EW_OP_LOAD, polled, count * sizeof *polled, pc);
    memcpy(copy, polled, count * sizeof *copy);
    long ready = wait_until(copy, count, deadline, now);
    for (nfds_t i = 0; i < count && ready >= 0; i++)
        polled[i].revents = ready ? copy[i].revents : 0;
    if (pc && ready >= 0)
        touch_results(polled, count, pc);
    if (count > FEW)
        raw3(SYS_munmap, (long)copy, (long)(count * sizeof *copy), 0);
    ew_release_held();
    return ready;
}

static bool is_too_many(nfds_t count) {
    struct rlimit limit;
    return count > FEW && raw3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0) == 0 &&
           count > limit.rlim_cur;
}

// What has waited behind the other mask is delivered now, and ends the wait unless something is
// ready.
uint64_t ew_poll_begin(const sigset_t *mask) {
    uint64_t before = ew_self->life.mask;
    ew_testcancel();
    ew_point_asking(-1);
    ew_release_held();
    ew_self->life.interrupted = EW_UNDISTURBED;
    if (mask) {
        ew_mask_set(SET(mask));
        ew_look_for_signals();
        ew_attend(false);
    }
    return before;
}

void ew_poll_end(uint64_t mask) {
    if (mask == ew_self->life.mask)
        return;
    ew_mask_set(mask);
    ew_look_for_signals();
    if (ew_self->life.attention)
        ew_attend(false);
}

static void took(const struct pollfd *polled, nfds_t count, const void *pc) {
    for (nfds_t i = 0; i < count; i++)
        if (polled[i].fd >= 0 && polled[i].revents)
            ew_channel_took(polled[i].fd, pc);
}

// Returns how many are ready, or -errno. With another signal mask, if there is one, for as long as
// it waits.
static long wait_for(struct pollfd *polled, nfds_t count, int64_t deadline, bool now,
                     const sigset_t *mask, bool of_program, const void *pc) {
    uint64_t before = ew_poll_begin(mask);
    long ready = count ? wait_on_copy(polled, count, deadline, now, of_program ? pc : NULL)
                       : rest(deadline, now);
    if (ready > 0)
        took(polled, count, pc);
    ew_poll_end(before);
    return ready;
}

static int poll_for(struct pollfd *polled, nfds_t count, int64_t nanoseconds, const sigset_t *mask,
                    const void *pc) {
    if (is_too_many(count))
        return (int)ew_result(-EINVAL);
    if (!ew_is_readable(polled, count * sizeof *polled))
        return (int)ew_result(-EFAULT);
    int64_t deadline = ew_deadline_in(nanoseconds);
    return (int)ew_result(wait_for(polled, count, deadline, nanoseconds == 0, mask, true, pc));
}

int64_t ew_poll_length(int milliseconds) {
    return milliseconds < 0 ? EW_NEVER : milliseconds * 1000000ll;
}

EW_EXPORT int poll(struct pollfd *polled, nfds_t count, int milliseconds) {
    return poll_for(polled, count, ew_poll_length(milliseconds), NULL, PC);
}

EW_EXPORT int ppoll(struct pollfd *polled, nfds_t count, const struct timespec *limit,
                    const sigset_t *mask) {
    if (limit && !ew_is_length(limit))
        return (int)ew_result(-EINVAL);
    return poll_for(polled, count, limit ? ew_nanoseconds(limit) : EW_NEVER, mask, PC);
}

// What _FORTIFY_SOURCE calls instead, with the size of the array behind.
_Noreturn void __chk_fail(void);

EW_EXPORT int __poll_chk(struct pollfd *polled, nfds_t count, int milliseconds, size_t room) {
    if (room / sizeof *polled < count)
        __chk_fail();
    return poll(polled, count, milliseconds);
}

EW_EXPORT int __ppoll_chk(struct pollfd *polled, nfds_t count, const struct timespec *limit,
                          const sigset_t *mask, size_t room) {
    if (room / sizeof *polled < count)
        __chk_fail();
    return ppoll(polled, count, limit, mask);
}

// --- select: the same in sets

#define READ_EVENTS (POLLIN | POLLHUP | POLLERR)
#define WRITE_EVENTS (POLLOUT | POLLERR)

static bool is_in(int fd, const fd_set *set) {
    return set && FD_ISSET(fd, set);
}

static short wanted(int fd, const fd_set *read, const fd_set *write, const fd_set *except) {
    return (short)((is_in(fd, read) ? POLLIN : 0) | (is_in(fd, write) ? POLLOUT : 0) |
                   (is_in(fd, except) ? POLLPRI : 0));
}

static nfds_t gather(int count, fd_set *const sets[3], struct pollfd *polled) {
    nfds_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        short events = wanted(fd, sets[0], sets[1], sets[2]);
        if (events)
            polled[used++] = (struct pollfd){fd, events, 0};
    }
    return used;
}

static int keep(fd_set *set, int fd, const struct pollfd *one, short asked, short events) {
    if (!set || !(one->events & asked))
        return 0;
    if (one->revents & events)
        return 1;
    FD_CLR(fd, set);
    return 0;
}

// One that is not looked at any more is there by its inverse.
static int scatter(fd_set *const sets[3], const struct pollfd *polled, nfds_t used) {
    int bits = 0;
    for (nfds_t i = 0; i < used; i++) {
        int fd = polled[i].fd < 0 ? ~polled[i].fd : polled[i].fd;
        if (polled[i].revents & POLLNVAL)
            return -EBADF;
        bits += keep(sets[0], fd, &polled[i], POLLIN, READ_EVENTS);
        bits += keep(sets[1], fd, &polled[i], POLLOUT, WRITE_EVENTS);
        bits += keep(sets[2], fd, &polled[i], POLLPRI, POLLPRI);
    }
    return bits;
}

// poll tells of a connection that is over also who did not ask to read. For select that is
// nothing, and nothing more can come there.
static bool is_wanted(const struct pollfd *one) {
    return one->revents & (POLLNVAL | (one->events & POLLIN ? READ_EVENTS : 0) |
                           (one->events & POLLOUT ? WRITE_EVENTS : 0) | (one->events & POLLPRI));
}

static bool drop_unwanted(struct pollfd *polled, nfds_t used) {
    bool wanted = false;
    for (nfds_t i = 0; i < used; i++) {
        wanted |= is_wanted(&polled[i]);
        if (polled[i].revents && !is_wanted(&polled[i]))
            polled[i].fd = ~polled[i].fd;
    }
    return !wanted;
}

static long select_among(struct pollfd *polled, nfds_t used, int64_t length, const sigset_t *mask,
                         const void *pc) {
    int64_t deadline = ew_deadline_in(length);
    long ready;
    do
        ready = wait_for(polled, used, deadline, length == 0, mask, false, pc);
    while (ready > 0 && drop_unwanted(polled, used));
    return ready;
}

// A program may have sets with room for more than FD_SETSIZE.
static int highest(int count) {
    struct rlimit limit = {FD_SETSIZE, 0};
    raw3(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit, 0);
    return count > FD_SETSIZE && (rlim_t)count > limit.rlim_cur ? (int)limit.rlim_cur : count;
}

// The kernel reads and writes whole words.
static void touch_sets(unsigned op, fd_set *const sets[3], int count, const void *pc) {
    size_t size = ((size_t)count + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
    for (int i = 0; i < 3; i++)
        if (sets[i])
            ew_touch(op, sets[i], size, pc);
}

static int select_for(int count, fd_set *const sets[3], int64_t length, const sigset_t *mask,
                      const void *pc) {
    struct pollfd some[FD_SETSIZE], *polled = some;
    count = highest(count);
    size_t size = (size_t)count * sizeof *polled;
    if (count > FD_SETSIZE)
        polled = ew_pages(size);
    touch_sets(EW_OP_LOAD, sets, count, pc);
    nfds_t used = gather(count, sets, polled);
    long ready = select_among(polled, used, length, mask, pc);
    int bits = ready < 0 ? (int)ready : scatter(sets, polled, used);
    if (bits >= 0)
        touch_sets(EW_OP_STORE, sets, count, pc);
    if (polled != some)
        raw3(SYS_munmap, (long)polled, (long)size, 0);
    return (int)ew_result(bits);
}

EW_EXPORT int pselect(int count, fd_set *read, fd_set *write, fd_set *except,
                      const struct timespec *limit, const sigset_t *mask) {
    fd_set *const sets[3] = {read, write, except};
    if (count < 0 || (limit && !ew_is_length(limit)))
        return (int)ew_result(-EINVAL);
    return select_for(count, sets, limit ? ew_nanoseconds(limit) : EW_NEVER, mask, PC);
}

// Linux's own: what is left of the time is told.
EW_EXPORT int select(int count, fd_set *read, fd_set *write, fd_set *except,
                     struct timeval *limit) {
    fd_set *const sets[3] = {read, write, except};
    if (count < 0 || (limit && (limit->tv_sec < 0 || limit->tv_usec < 0)))
        return (int)ew_result(-EINVAL);
    if (!limit)
        return select_for(count, sets, EW_NEVER, NULL, PC);
    int64_t length = ew_nanoseconds(&(struct timespec){limit->tv_sec + limit->tv_usec / 1000000,
                                                       limit->tv_usec % 1000000 * 1000});
    int64_t before = ew_elapsed();
    int ready = select_for(count, sets, length, NULL, PC);
    int64_t over = ew_elapsed() - before, left = length > over ? length - over : 0;
    *limit = (struct timeval){left / EW_SECOND, left % EW_SECOND / 1000};
    return ready;
}
