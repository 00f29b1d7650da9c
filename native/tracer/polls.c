// SPDX-License-Identifier: Apache-2.0
// Which descriptors a call waits at together, and which of them it found ready: as a text of
// struct pollfd, whatever form the call has; of epoll the events as the kernel writes them.
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "tracer.h"

enum { MOST = 256 }; // descriptors of one call that are noted

static struct pollfd polled[MOST];

// As the sets of a select, in the order of its arguments.
static const short meant[] = {POLLIN, POLLOUT, POLLPRI};
enum { SETS = sizeof meant / sizeof *meant };

static bool is_poll(uint64_t number) {
    return number == SYS_poll || number == SYS_ppoll;
}

static bool is_select(uint64_t number) {
    return number == SYS_select || number == SYS_pselect6;
}

static bool is_epoll(uint64_t number) {
    return number == SYS_epoll_wait || number == SYS_epoll_pwait || number == SYS_epoll_pwait2;
}

static void note(struct thread *thread, const void *bytes, size_t length) {
    thread->call.value = text_number(bytes, length);
}

// What lies there now: of a poll with what it found, if it is over.
static void note_poll(struct thread *thread) {
    size_t count = thread->call.a1 < MOST ? thread->call.a1 : MOST;
    size_t length = count * sizeof *polled;
    if (count && memory_read(thread->id, thread->call.a0, polled, length) == (ssize_t)length)
        note(thread, polled, length);
}

static void read_sets(const struct thread *thread, fd_set sets[SETS]) {
    const uint64_t *addresses = &thread->call.a1;
    size_t bits = thread->call.a0 < FD_SETSIZE ? thread->call.a0 : FD_SETSIZE;
    size_t length = (bits + 63) / 64 * 8; // the kernel's sets are of longs
    memset(sets, 0, SETS * sizeof *sets);
    for (size_t i = 0; i < SETS; i++)
        if (addresses[i] &&
            memory_read(thread->id, addresses[i], &sets[i], length) != (ssize_t)length)
            FD_ZERO(&sets[i]);
}

static short in_sets(fd_set sets[SETS], int descriptor) {
    short events = 0;
    for (size_t i = 0; i < SETS; i++)
        if (FD_ISSET(descriptor, &sets[i]))
            events |= meant[i];
    return events;
}

// The sets are overwritten by what was found: what was asked for is noted before.
static void note_select(struct thread *thread) {
    fd_set sets[SETS];
    size_t count = 0;
    read_sets(thread, sets);
    for (int descriptor = 0;
         descriptor < (int)thread->call.a0 && descriptor < FD_SETSIZE && count < MOST;
         descriptor++) {
        short events = in_sets(sets, descriptor);
        if (events)
            polled[count++] = (struct pollfd){descriptor, events, 0};
    }
    note(thread, polled, count * sizeof *polled);
}

static void note_selected(struct thread *thread) {
    fd_set sets[SETS];
    size_t length = text_length((uint32_t)thread->call.value);
    if (!length || length > sizeof polled)
        return;
    memcpy(polled, text_of_number((uint32_t)thread->call.value), length);
    read_sets(thread, sets);
    for (size_t i = 0; i < length / sizeof *polled; i++)
        polled[i].revents = in_sets(sets, polled[i].fd);
    note(thread, polled, length);
}

static void find_nothing_polled(struct thread *thread) {
    for (uint64_t from = 0, part; from < thread->call.a1; from += part) {
        uint64_t at = thread->call.a0 + from * sizeof *polled;
        part = thread->call.a1 - from < MOST ? thread->call.a1 - from : MOST;
        if (memory_read(thread->id, at, polled, part * sizeof *polled) < 0)
            return;
        for (size_t i = 0; i < part; i++)
            polled[i].revents = 0;
        memory_write(thread->id, at, polled, part * sizeof *polled);
    }
}

static void find_nothing_selected(struct thread *thread) {
    static const fd_set none;
    const uint64_t *addresses = &thread->call.a1;
    size_t bits = thread->call.a0 < FD_SETSIZE ? thread->call.a0 : FD_SETSIZE;
    for (size_t i = 0; i < SETS; i++)
        if (addresses[i])
            memory_write(thread->id, addresses[i], &none, (bits + 63) / 64 * 8);
}

void polls_find_nothing(struct thread *thread) {
    if (is_poll(thread->call.number))
        find_nothing_polled(thread);
    else if (is_select(thread->call.number))
        find_nothing_selected(thread);
}

void polls_enter(struct thread *thread) {
    struct epoll_event event;
    if (is_poll(thread->call.number))
        note_poll(thread);
    else if (is_select(thread->call.number))
        note_select(thread);
    else if (thread->call.number == SYS_epoll_ctl && thread->call.a3 &&
             memory_read(thread->id, thread->call.a3, &event, sizeof event) ==
                 (ssize_t)sizeof event)
        note(thread, &event, sizeof event);
}

void polls_leave(struct thread *thread, int64_t result) {
    static struct epoll_event events[MOST];
    size_t count = result < 0 ? 0 : result < MOST ? (size_t)result : MOST;
    if (!count)
        return;
    if (is_poll(thread->call.number))
        note_poll(thread);
    else if (is_select(thread->call.number))
        note_selected(thread);
    else if (is_epoll(thread->call.number) &&
             memory_read(thread->id, thread->call.a1, events, count * sizeof *events) ==
                 (ssize_t)(count * sizeof *events))
        note(thread, events, count * sizeof *events);
}
