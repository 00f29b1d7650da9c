// SPDX-License-Identifier: Apache-2.0
// epoll: the kernel is given descriptor numbers as data, and the program's own data is kept here,
// so that what is recorded of a wait has no addresses in it.
#include "input.h"
#include "polling.h"
#include "transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

// By instance and descriptor; open addressing, grows, entries are never taken out.
static struct entry {
    uint32_t instance; // its number, see descriptors.h; 0: free
    int descriptor;
    epoll_data_t data;
} *entries;
static size_t entry_count, entry_room;

static struct entry *find(uint32_t instance, int descriptor) {
    size_t at = ((size_t)instance * 0x9E3779B1u ^ (size_t)descriptor * 0x85EBCA77u) % entry_room;
    while (entries[at].instance &&
           (entries[at].instance != instance || entries[at].descriptor != descriptor))
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
            *find(old[i].instance, old[i].descriptor) = old[i];
    if (old)
        raw3(SYS_munmap, (long)old, (long)(count * sizeof *old), 0);
}

static void remember(uint32_t instance, int descriptor, epoll_data_t data) {
    if (2 * (entry_count + 1) > entry_room)
        grow();
    struct entry *entry = find(instance, descriptor);
    entry_count += !entry->instance;
    *entry = (struct entry){instance, descriptor, data};
}

// One that another process made (a program before exec) has no number yet.
static uint32_t number_of(int instance) {
    if (!ew_number_of(instance))
        ew_numbered_outside(instance);
    return ew_number_of(instance);
}

static int made(long instance) {
    if (instance >= 0)
        ew_numbered_within((int)instance);
    return (int)ew_result(instance);
}

EW_EXPORT int epoll_create1(int flags) {
    return made(raw1(SYS_epoll_create1, flags));
}

EW_EXPORT int epoll_create(int size) {
    return size > 0 ? epoll_create1(0) : (int)ew_result(-EINVAL);
}

static bool is_instance(int descriptor, int other) {
    struct epoll_event unused = {0};
    return raw6(SYS_epoll_ctl, descriptor, EPOLL_CTL_DEL, other, (long)&unused, 0, 0) != -EINVAL;
}

// An instance within another may come to lead outside later.
static bool makes_outside(int instance, int descriptor) {
    return ew_is_outside(descriptor) || is_instance(descriptor, instance);
}

EW_EXPORT int epoll_ctl(int instance, int op, int descriptor, struct epoll_event *event) {
    struct epoll_event ours = {0};
    ew_point(EW_WHY_SYNC);
    if (event)
        ours = (struct epoll_event){.events = event->events, .data.fd = descriptor};
    long error = raw6(SYS_epoll_ctl, instance, op, descriptor, (long)(event ? &ours : NULL), 0, 0);
    if (error == 0 && op != EPOLL_CTL_DEL) {
        remember(number_of(instance), descriptor, event->data);
        if (makes_outside(instance, descriptor))
            ew_numbered_outside(instance);
    }
    ew_look_within();
    return (int)ew_result(error);
}

static void put_data(int instance, struct epoll_event *events, long count) {
    for (long i = 0; i < count; i++)
        events[i].data = find(ew_number_of(instance), events[i].data.fd)->data;
}

static long look(int instance, bool outside, struct epoll_event *events, int count) {
    long ready =
        (outside ? ew_input_call : raw6)(SYS_epoll_wait, instance, (long)events, count, 0, 0, 0);
    if (outside && ready > 0)
        ew_input(EW_INPUT_READY, events, (size_t)ready * sizeof *events,
                 (size_t)count * sizeof *events);
    return ready;
}

// Another thread may make the instance lead outside while this one waits.
static long wait_until(struct pollfd *one, struct epoll_event *events, int count, int64_t deadline,
                       bool now) {
    for (bool last = now;;) {
        bool outside = ew_is_outside(one->fd);
        long ready = look(one->fd, outside, events, count);
        if (ready || last)
            return ready;
        if (ew_interrupted(true))
            return -EINTR;
        last = (outside ? ew_wait_outside : ew_wait_within)(one, 1, deadline) == EW_TIMED_OUT;
        ew_testcancel();
    }
}

static int wait_for(int instance, struct epoll_event *events, int count, int64_t nanoseconds,
                    const sigset_t *mask) {
    struct pollfd one = {instance, POLLIN, 0};
    int64_t deadline = nanoseconds < 0 ? EW_NEVER : ew_now() + nanoseconds;
    uint64_t before = ew_poll_begin(mask);
    long ready = wait_until(&one, events, count, deadline, nanoseconds == 0);
    put_data(one.fd, events, ready);
    ew_release_held();
    ew_poll_end(before);
    return (int)ew_result(ready);
}

EW_EXPORT int epoll_pwait(int instance, struct epoll_event *events, int count, int milliseconds,
                          const sigset_t *mask) {
    return wait_for(instance, events, count, milliseconds < 0 ? -1 : milliseconds * 1000000ll,
                    mask);
}

EW_EXPORT int epoll_pwait2(int instance, struct epoll_event *events, int count,
                           const struct timespec *limit, const sigset_t *mask) {
    if (limit && (limit->tv_sec < 0 || limit->tv_nsec < 0 || limit->tv_nsec > 999999999))
        return (int)ew_result(-EINVAL);
    return wait_for(instance, events, count,
                    limit ? limit->tv_sec * 1000000000ll + limit->tv_nsec : -1, mask);
}

EW_EXPORT int epoll_wait(int instance, struct epoll_event *events, int count, int milliseconds) {
    return epoll_pwait(instance, events, count, milliseconds, NULL);
}
