// SPDX-License-Identifier: Apache-2.0
// Waiting for descriptors. Those that lead outside are really waited for; of the others only
// threads of this program can make something, so that who waits for them is looked at when they do.
#include "descriptors.h"
#include "family.h"
#include "polling.h"
#include "schedule.h"
#include "script.h"
#include "signals.h"

#include <errno.h>
#include <fcntl.h>

static struct ew_thread *head; // threads that wait for descriptors, in order of arrival
uint32_t ew_waiting;
static uint32_t waiting_within, descriptors;
static uint32_t waiting_for_signals; // and nothing else

static bool is_for_signals(const struct ew_thread *thread) {
    return thread->polled_count == 0 && !thread->polls_within;
}

static void add(struct ew_thread *thread) {
    struct ew_thread **end = &head;
    struct ew_thread *previous = NULL;
    for (; *end; end = &(*end)->poll_next)
        previous = *end;
    *end = thread;
    thread->poll_previous = previous;
    thread->poll_next = NULL;
    ew_waiting++;
    waiting_within += thread->polls_within;
    waiting_for_signals += is_for_signals(thread);
    descriptors += thread->polled_count;
}

static void drop(struct ew_thread *thread) {
    if (thread->poll_previous)
        thread->poll_previous->poll_next = thread->poll_next;
    else
        head = thread->poll_next;
    if (thread->poll_next)
        thread->poll_next->poll_previous = thread->poll_previous;
    ew_waiting--;
    waiting_within -= thread->polls_within;
    waiting_for_signals -= is_for_signals(thread);
    descriptors -= thread->polled_count;
}

// Who was let go is noted when it is: see let_go.
static void note_end(enum ew_woken woken) {
    bool let_go = ew_self->life.let_go;
    struct ew_input_wait wait = {ew_elapsed(),
                                 woken == EW_TIMED_OUT ? EW_WAIT_LATE : EW_WAIT_OTHERWISE};
    ew_self->life.let_go = false;
    if (!let_go)
        ew_input_wait(ew_self->id, &wait);
}

static enum ew_woken wait_for(struct pollfd *polled, uint32_t count, int64_t deadline,
                              bool within) {
    struct ew_thread *self = ew_self;
    if (ew_cancel_is_due(self))
        return EW_WOKEN;
    self->polled = polled;
    self->polled_count = count;
    self->polls_within = within;
    ew_talks |= count && !within;
    self->life.handler_helps = within;
    add(self);
    self->life.cancellable = true;
    self->life.asked = (struct ew_asked){!within, -1}; // what has come, when it goes on
    enum ew_woken woken = ew_wait_quietly(polled, deadline);
    self->life.asked.is = false;
    self->life.cancellable = false;
    self->life.handler_helps = false;
    drop(self);
    if (!within)
        note_end(woken);
    if (self->life.attention)
        ew_attend(false);
    return woken;
}

enum ew_woken ew_wait_outside(struct pollfd *polled, uint32_t count, int64_t deadline) {
    return wait_for(polled, count, deadline, false);
}

enum ew_woken ew_wait_within(struct pollfd *polled, uint32_t count, int64_t deadline) {
    return wait_for(polled, count, deadline, true);
}

bool ew_outside_waited_for(void) {
    return ew_waiting != waiting_within;
}

bool ew_only_signals_waited_for(void) {
    return ew_waiting - waiting_within == waiting_for_signals;
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
    struct timespec limit = ew_timespec(nanoseconds);
    return raw6(SYS_ppoll, (long)all, descriptors, nanoseconds < 0 ? 0 : (long)&limit,
                (long)&ew_kernel_mask, sizeof ew_kernel_mask, 0);
}

static int64_t real_now(void) {
    struct timespec now;
    raw3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return ew_nanoseconds(&now);
}

// The virtual clock moves by as much as was really waited. A note has room for an hour.
static void pass_time(int64_t microseconds) {
    while (microseconds > 0) {
        uint32_t part = microseconds < UINT32_MAX ? (uint32_t)microseconds : UINT32_MAX;
        ew_schedule_note(EW_SWITCH_WAITED, part);
        ew_clock_jump(ew_now() + part * 1000ll);
        microseconds -= part;
    }
}

void ew_time_passes(int64_t nanoseconds) {
    pass_time((nanoseconds + 999) / 1000);
}

static void let_go(struct ew_thread *thread) {
    struct ew_input_wait wait = {ew_elapsed(), EW_WAIT_LET_GO};
    ew_input_wait(thread->id, &wait);
    thread->life.let_go = true;
    ew_schedule_note(EW_SWITCH_OUTSIDE, thread->id);
    ew_unblock(thread, false);
}

#define PART 20000000 // nanoseconds after which it is looked whether we have been left alone

// How long to wait next. When nobody outside has anything more to say, time need not really pass.
static int64_t part_of(int64_t nanoseconds, int64_t since) {
    if (nanoseconds <= 0)
        return nanoseconds;
    int64_t left = since + nanoseconds - real_now();
    if (left <= 0 || ew_family_alone())
        return 0;
    return left < PART ? left : PART;
}

static bool look_really(int64_t nanoseconds) {
    struct pollfd *all = gather(), *at = all;
    int64_t before = nanoseconds ? real_now() : 0, part;
    long count;
    do {
        part = part_of(nanoseconds, before);
        count = poll_all(all, part);
    } while ((count == -EINTR && !ew_signal_arrived) || (count == 0 && part > 0));
    if (nanoseconds)
        pass_time((real_now() - before) / 1000);
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

bool ew_waits_outside(const struct ew_thread *thread) {
    return thread->state == EW_BLOCKED && thread->waits_for == thread->polled && thread->polled &&
           !thread->polls_within;
}

// As the recording has it that this run has left: who waits so long sees what comes until then.
static bool look_into_script(int64_t nanoseconds) {
    bool seen = false;
    struct ew_script_act act;
    while (ew_script_next_act(&act)) {
        int64_t ahead = act.when - ew_elapsed();
        if (ahead > 0 && (seen || (nanoseconds >= 0 && ahead > nanoseconds)))
            break;
        pass_time((ahead + 999) / 1000);
        if (act.thread)
            let_go(act.thread);
        else
            ew_signal_come();
        seen = true;
    }
    return seen;
}

bool ew_look_outside(int64_t nanoseconds) {
    if (ew_scripted)
        return look_into_script(nanoseconds);
    return ew_schedule_following() ? look_back() : look_really(nanoseconds);
}

bool ew_outside_is_due(void) {
    const struct ew_schedule_switch *next = ew_schedule_next();
    return next && next->steps == ew_steps &&
           (next->kind == EW_SWITCH_OUTSIDE || next->kind == EW_SWITCH_WAITED ||
            next->kind == EW_SWITCH_SIGNAL);
}

// --- within

static bool is_ready(const struct ew_thread *thread) {
    return ew_poll_now(thread->polled, thread->polled_count) != 0;
}

// The same in every run, so that nothing of it is noted.
bool ew_look_within(void) {
    bool found = false;
    for (struct ew_thread *thread = head; waiting_within && thread; thread = thread->poll_next)
        if (thread->polls_within && thread->state == EW_BLOCKED && is_ready(thread)) {
            ew_unblock(thread, false);
            found = true;
        }
    return found;
}

// --- descriptors that are closed under those who wait

static struct held {
    uint32_t owner; // thread number + 1; 0: free
    int descriptor;
} *held;
static uint32_t held_room, held_count;

static void hold_more(void) {
    uint32_t room = held_room ? held_room * 2 : 512;
    struct held *more = ew_pages(room * sizeof *more);
    for (uint32_t i = 0; i < held_room; i++)
        more[i] = held[i];
    if (held)
        raw3(SYS_munmap, (long)held, (long)(held_room * sizeof *held), 0);
    held = more;
    held_room = room;
}

static struct held *unused(void) {
    if (held_count == held_room)
        hold_more();
    struct held *at = held;
    while (at->owner)
        at++;
    return at;
}

// One that cannot be copied will be seen to be closed.
static int hold(const struct ew_thread *thread, int descriptor) {
    long copy = raw1(SYS_dup, descriptor);
    if (copy < 0)
        return descriptor;
    struct held *hold = unused();
    *hold = (struct held){thread->id + 1, ew_out_of_the_way((int)copy)};
    held_count++;
    ew_number_copied(descriptor, hold->descriptor);
    return hold->descriptor;
}

static void keep(struct ew_thread *thread, unsigned first, unsigned last) {
    for (uint32_t i = 0; i < thread->polled_count; i++) {
        int descriptor = thread->polled[i].fd;
        if (descriptor >= 0 && (unsigned)descriptor >= first && (unsigned)descriptor <= last)
            thread->polled[i].fd = hold(thread, descriptor);
    }
}

void ew_closing(unsigned first, unsigned last) {
    for (struct ew_thread *thread = head; thread; thread = thread->poll_next)
        keep(thread, first, last);
}

void ew_release_held(void) {
    for (uint32_t i = 0; held_count && i < held_room; i++) {
        if (held[i].owner != ew_self->id + 1)
            continue;
        ew_numbers_closed((unsigned)held[i].descriptor, (unsigned)held[i].descriptor);
        raw1(SYS_close, held[i].descriptor);
        held[i].owner = 0;
        held_count--;
    }
}

void ew_outside_forked(void) {
    for (uint32_t i = 0; i < held_room; i++) {
        if (held[i].owner)
            raw1(SYS_close, held[i].descriptor);
        held[i].owner = 0;
    }
    head = NULL;
    ew_waiting = waiting_within = waiting_for_signals = descriptors = held_count = 0;
}
