// SPDX-License-Identifier: Apache-2.0
// epoll: the kernel is given numbers of our own as data, and the program's own data is kept here,
// so that what is recorded of a wait has no addresses in it.
#include "channels.h"
#include "input.h"
#include "polling.h"
#include "script.h"
#include "transfer.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

// What a descriptor led to stays registered when it is closed, as long as there are copies of it;
// then another entry may have the same number.
static struct entry {
    uint32_t instance; // its number, see descriptors.h
    int descriptor;
    bool live;     // not taken out
    uint32_t next; // of its chain, + 1
    epoll_data_t data;
} *entries; // by the number that the kernel has
static uint32_t entry_count, entry_room;
static uint32_t *chains; // of entries + 1, the newest first; as many as there is room

static uint32_t *chain_of(uint32_t instance, int descriptor) {
    return &chains[(instance * 0x9E3779B1u ^ (uint32_t)descriptor * 0x85EBCA77u) % entry_room];
}

static struct entry *find(uint32_t instance, int descriptor) {
    for (uint32_t i = entry_room ? *chain_of(instance, descriptor) : 0; i; i = entries[i - 1].next)
        if (entries[i - 1].instance == instance && entries[i - 1].descriptor == descriptor)
            return &entries[i - 1];
    return NULL;
}

static void enchain(uint32_t number) {
    struct entry *entry = &entries[number];
    uint32_t *chain = chain_of(entry->instance, entry->descriptor);
    entry->next = *chain;
    *chain = number + 1;
}

static void grow(void) {
    struct entry *old = entries;
    uint32_t *old_chains = chains;
    uint32_t room = entry_room;
    entry_room = room ? room * 2 : 1024;
    entries = ew_pages(entry_room * sizeof *entries);
    chains = ew_pages(entry_room * sizeof *chains);
    for (uint32_t i = 0; i < entry_count; i++) {
        entries[i] = old[i];
        enchain(i);
    }
    if (old) {
        raw3(SYS_munmap, (long)old, (long)(room * sizeof *old), 0);
        raw3(SYS_munmap, (long)old_chains, (long)(room * sizeof *old_chains), 0);
    }
}

static struct entry *add(uint32_t instance, int descriptor) {
    if (entry_count == entry_room)
        grow();
    entries[entry_count] = (struct entry){.instance = instance, .descriptor = descriptor};
    enchain(entry_count);
    return &entries[entry_count++];
}

static struct entry *entry_for(uint32_t instance, int descriptor, int op) {
    struct entry *entry = find(instance, descriptor);
    bool again = entry && (op == EPOLL_CTL_MOD || !entry->live || !ew_may_be_copied(descriptor));
    return again ? entry : add(instance, descriptor);
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

static long take_out(int instance, int descriptor) {
    struct epoll_event unused = {0};
    struct entry *entry = find(ew_number_of(instance), descriptor);
    long error = raw6(SYS_epoll_ctl, instance, EPOLL_CTL_DEL, descriptor, (long)&unused, 0, 0);
    if (error == 0 && entry)
        entry->live = false;
    return error;
}

static long put_in(int instance, int op, int descriptor, const struct epoll_event *event) {
    struct entry *entry = entry_for(number_of(instance), descriptor, op);
    struct epoll_event ours = {event->events, {.u64 = (uint64_t)(entry - entries)}};
    long error = raw6(SYS_epoll_ctl, instance, op, descriptor, (long)&ours, 0, 0);
    if (error)
        return error;
    entry->live = true;
    entry->data = event->data;
    if (makes_outside(instance, descriptor))
        ew_numbered_outside(instance);
    return 0;
}

EW_EXPORT int epoll_ctl(int instance, int op, int descriptor, struct epoll_event *event) {
    ew_point(EW_WHY_SYNC);
    if (event && op != EPOLL_CTL_DEL)
        ew_touch(EW_OP_LOAD, event, sizeof *event, PC);
    ew_channel_put(instance, PC); // the data is often a pointer
    long error = op == EPOLL_CTL_DEL ? take_out(instance, descriptor)
                 : event             ? put_in(instance, op, descriptor, event)
                                     : -EFAULT;
    ew_look_within();
    return (int)ew_result(error);
}

static void took(int instance, const struct epoll_event *events, long count, const void *pc) {
    if (count > 0)
        ew_channel_took(instance, pc);
    for (long i = 0; i < count; i++)
        if (events[i].data.u64 < entry_count)
            ew_channel_took(entries[events[i].data.u64].descriptor, pc);
}

// One that another process has put in is not known here.
static void put_data(struct epoll_event *events, long count) {
    for (long i = 0; i < count; i++)
        if (events[i].data.u64 < entry_count)
            events[i].data = entries[events[i].data.u64].data;
}

// What is noted of an event: another run knows by the descriptor which entry is meant, because the
// numbers of entries depend on who came first.
//
//   63     32 31      0
//  +---------+---------+
//  |descr. +1| number  |  0 above: of another process
//  +---------+---------+
static void name_descriptors(struct epoll_event *events, long count) {
    for (long i = 0; i < count; i++) {
        uint64_t number = events[i].data.u64;
        if (number < entry_count)
            events[i].data.u64 = (uint64_t)(entries[number].descriptor + 1) << 32 | number;
    }
}

static uint64_t entry_named(int instance, uint64_t name) {
    int descriptor = (int)(name >> 32) - 1;
    if (!ew_scripted || descriptor < 0)
        return (uint32_t)name;
    const struct entry *entry = find(ew_number_of(instance), descriptor);
    if (!entry)
        ew_script_over();
    return (uint64_t)(entry - entries);
}

bool ew_epoll_is_true(const struct epoll_event *told) {
    int descriptor = (int)(told->data.u64 >> 32) - 1;
    uint32_t events = told->events & (EPOLLIN | EPOLLOUT);
    return descriptor < 0 || !events ||
           ew_poll_is_true(&(struct pollfd){descriptor, (short)events, (short)events});
}

static void find_entries(int instance, struct epoll_event *events, long count) {
    for (long i = 0; i < count; i++)
        if (events[i].data.u64 >> 32)
            events[i].data.u64 = entry_named(instance, events[i].data.u64);
}

static void take_ready(int instance, struct epoll_event *events, long ready, int count) {
    name_descriptors(events, ew_replaying ? 0 : ready);
    ew_input(EW_INPUT_READY, events, (size_t)ready * sizeof *events,
             (size_t)count * sizeof *events);
    find_entries(instance, events, ready);
}

static long look(int instance, bool outside, struct epoll_event *events, int count) {
    long ready =
        (outside ? ew_input_call : raw6)(SYS_epoll_wait, instance, (long)events, count, 0, 0, 0);
    if (outside && ready > 0)
        take_ready(instance, events, ready, count);
    if (outside)
        ew_pace();
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
                    const sigset_t *mask, const void *pc) {
    struct pollfd one = {instance, POLLIN, 0};
    int64_t deadline = ew_deadline_in(nanoseconds);
    uint64_t before = ew_poll_begin(mask);
    long ready = wait_until(&one, events, count, deadline, nanoseconds == 0);
    took(one.fd, events, ready, pc);
    put_data(events, ready);
    if (ready > 0)
        ew_touch(EW_OP_STORE, events, (size_t)ready * sizeof *events, pc);
    ew_release_held();
    ew_poll_end(before);
    return (int)ew_result(ready);
}

EW_EXPORT int epoll_pwait(int instance, struct epoll_event *events, int count, int milliseconds,
                          const sigset_t *mask) {
    return wait_for(instance, events, count, ew_poll_length(milliseconds), mask, PC);
}

EW_EXPORT int epoll_pwait2(int instance, struct epoll_event *events, int count,
                           const struct timespec *limit, const sigset_t *mask) {
    if (limit && !ew_is_length(limit))
        return (int)ew_result(-EINVAL);
    return wait_for(instance, events, count, limit ? ew_nanoseconds(limit) : EW_NEVER, mask, PC);
}

EW_EXPORT int epoll_wait(int instance, struct epoll_event *events, int count, int milliseconds) {
    return wait_for(instance, events, count, ew_poll_length(milliseconds), NULL, PC);
}
