// SPDX-License-Identifier: Apache-2.0
// Waiting for descriptors: the only way in which a thread of the target waits for the outside.
#include "schedule.h"
#include "signals.h"

#include <errno.h>

static struct ew_thread *head; // threads that wait for descriptors, in order of arrival
static uint32_t waiting, descriptors;

static void add(struct ew_thread *thread) {
    struct ew_thread **end = &head;
    struct ew_thread *previous = NULL;
    for (; *end; end = &(*end)->poll_next)
        previous = *end;
    *end = thread;
    thread->poll_previous = previous;
    thread->poll_next = NULL;
    waiting++;
    descriptors += thread->polled_count;
}

static void drop(struct ew_thread *thread) {
    if (thread->poll_previous)
        thread->poll_previous->poll_next = thread->poll_next;
    else
        head = thread->poll_next;
    if (thread->poll_next)
        thread->poll_next->poll_previous = thread->poll_previous;
    waiting--;
    descriptors -= thread->polled_count;
}

enum ew_woken ew_wait_outside(struct pollfd *polled, uint32_t count, int64_t deadline) {
    struct ew_thread *self = ew_self;
    if (ew_cancel_is_due(self))
        return EW_WOKEN;
    self->polled = polled;
    self->polled_count = count;
    add(self);
    self->life.cancellable = true;
    enum ew_woken woken = ew_wait_quietly(polled, deadline);
    self->life.cancellable = false;
    drop(self);
    if (self->life.attention)
        ew_attend(false);
    return woken;
}

bool ew_outside_waited_for(void) {
    return waiting != 0;
}

// One array for all of them; grows, and is kept.
static struct pollfd *gather(void) {
    static struct pollfd *all;
    static size_t room;
    if (descriptors > room) {
        if (all)
            raw3(SYS_munmap, (long)all, (long)(room * sizeof *all), 0);
        room = descriptors * 2;
        all = ew_pages(room * sizeof *all);
    }
    struct pollfd *at = all;
    for (struct ew_thread *thread = head; thread; thread = thread->poll_next)
        for (uint32_t i = 0; i < thread->polled_count; i++)
            *at++ = thread->polled[i];
    return all;
}

static long poll_all(struct pollfd *all, int64_t nanoseconds) {
    struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return raw6(SYS_ppoll, (long)all, descriptors, nanoseconds < 0 ? 0 : (long)&limit,
                (long)&ew_kernel_mask, sizeof ew_kernel_mask, 0);
}

static int64_t real_now(void) {
    struct timespec now;
    raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// The virtual clock moves by as much as was really waited.
static void pass_time(uint32_t microseconds) {
    if (microseconds) {
        ew_schedule_note(EW_SWITCH_WAITED, microseconds);
        ew_clock_jump(ew_now() + microseconds * 1000ll);
    }
}

static void let_go(struct ew_thread *thread) {
    ew_schedule_note(EW_SWITCH_OUTSIDE, thread->id);
    ew_unblock(thread, false);
}

static bool look_really(int64_t nanoseconds) {
    struct pollfd *all = gather(), *at = all;
    int64_t before = nanoseconds ? real_now() : 0;
    long count;
    do
        count = poll_all(all, nanoseconds);
    while (count == -EINTR && !ew_signal_arrived);
    if (nanoseconds)
        pass_time((uint32_t)((real_now() - before) / 1000));
    if (count <= 0)
        return false;
    for (struct ew_thread *thread = head; thread; thread = thread->poll_next) {
        bool ready = false;
        for (uint32_t i = 0; i < thread->polled_count; i++)
            ready |= (at++)->revents != 0;
        if (ready && thread->state == EW_BLOCKED)
            let_go(thread);
    }
    return true;
}

// What was seen at this step in the recording is seen again.
static bool look_back(void) {
    bool found = false;
    const struct ew_schedule_switch *next;
    while ((next = ew_schedule_next()) && next->steps == ew_steps &&
           next->kind >= EW_SWITCH_OUTSIDE && next->kind != EW_SWITCH_TIME) {
        if (next->kind == EW_SWITCH_SIGNAL) {
            ew_take_arrivals();
            found = true;
            continue;
        }
        uint32_t choice = next->choice;
        bool waited = next->kind == EW_SWITCH_WAITED;
        ew_schedule_taken();
        if (waited) {
            pass_time(choice);
            continue;
        }
        struct ew_thread *thread = ew_thread_with(choice);
        if (!thread || thread->state != EW_BLOCKED)
            ew_schedule_diverged("the replay diverged: a thread does not wait for the outside");
        let_go(thread);
        found = true;
    }
    return found;
}

bool ew_look_outside(int64_t nanoseconds) {
    return ew_schedule_following() ? look_back() : look_really(nanoseconds);
}

void ew_outside_forked(void) {
    head = NULL;
    waiting = descriptors = 0;
}
