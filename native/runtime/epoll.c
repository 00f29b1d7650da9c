// SPDX-License-Identifier: Apache-2.0
// epoll: the kernel is given descriptor numbers as data, and the program's own data is kept here,
// so that what is recorded of a wait has no addresses in it.
#include "descriptors.h"
#include "input.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

// By instance and descriptor; open addressing, grows, entries are never taken out.
static struct entry {
    int instance, descriptor; // instance 0: free; descriptors of instances are never 0 here
    epoll_data_t data;
} *entries;
static size_t entry_count, entry_room;

static struct entry *find(int instance, int descriptor) {
    size_t at = ((size_t)instance * 0x9E3779B1u ^ (size_t)descriptor * 0x85EBCA77u) % entry_room;
    while (entries[at].instance &&
           (entries[at].instance != instance + 1 || entries[at].descriptor != descriptor))
        at = (at + 1) % entry_room;
    return &entries[at];
}

static void grow(void) {
    struct entry *old = entries;
    size_t count = entry_room;
    entry_room = count ? count * 2 : 1024;
    entries = ew_pages(entry_room * sizeof *entries);
    for (size_t i = 0; i < count; i++)
        if (old[i].instance)
            *find(old[i].instance - 1, old[i].descriptor) = old[i];
    if (old)
        raw3(SYS_munmap, (long)old, (long)(count * sizeof *old), 0);
}

static void remember(int instance, int descriptor, epoll_data_t data) {
    if (2 * (entry_count + 1) > entry_room)
        grow();
    struct entry *entry = find(instance, descriptor);
    entry_count += !entry->instance;
    *entry = (struct entry){instance + 1, descriptor, data};
}

EW_EXPORT int epoll_ctl(int instance, int op, int descriptor, struct epoll_event *event) {
    struct epoll_event ours = {0};
    ew_point(EW_WHY_SYNC);
    if (event) {
        ours = (struct epoll_event){.events = event->events, .data.fd = descriptor};
        remember(instance, descriptor, event->data);
    }
    long error = raw6(SYS_epoll_ctl, instance, op, descriptor, (long)&ours, 0, 0);
    if (error < 0)
        errno = (int)-error;
    return error < 0 ? -1 : 0;
}

static void put_data(int instance, struct epoll_event *events, long count) {
    for (long i = 0; i < count; i++)
        events[i].data = find(instance, events[i].data.fd)->data;
}

static long look(int instance, struct epoll_event *events, int count, const sigset_t *mask) {
    long ready = ew_input_call(SYS_epoll_pwait, instance, (long)events, count, 0, (long)mask, 8);
    if (ready > 0)
        ew_input(EW_INPUT_READY, events, (size_t)ready * sizeof *events,
                 (size_t)count * sizeof *events);
    return ready;
}

EW_EXPORT int epoll_pwait(int instance, struct epoll_event *events, int count, int milliseconds,
                          const sigset_t *mask) {
    struct pollfd one = {instance, POLLIN, 0};
    int64_t deadline = milliseconds < 0 ? EW_NEVER : ew_now() + milliseconds * 1000000ll;
    ew_testcancel();
    ew_point(EW_WHY_SYNC);
    for (bool last = milliseconds == 0;;) {
        long ready = look(instance, events, count, mask);
        if (ready < 0)
            errno = (int)-ready;
        if (ready || last) {
            put_data(instance, events, ready);
            return ready < 0 ? -1 : (int)ready;
        }
        last = ew_wait_outside(&one, 1, deadline) == EW_TIMED_OUT;
        ew_testcancel();
        if (ew_interrupted(true)) {
            errno = EINTR;
            return -1;
        }
    }
}

EW_EXPORT int epoll_wait(int instance, struct epoll_event *events, int count, int milliseconds) {
    return epoll_pwait(instance, events, count, milliseconds, NULL);
}
