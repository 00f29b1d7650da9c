// SPDX-License-Identifier: Apache-2.0
// Who goes through next. As they come, one at a time unless it can wait for others: that is a
// recording. Ordered: when all have come to rest, first by the plan, then by priorities, so that
// one seed gives one order.
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "numbering.h"
#include "tracer.h"

enum { FAIR = 2048 }; // calls of one, while others are held, until it comes behind them
enum { LOOKS = 128 }; // sleeps of others, until they are taken to wait for who is kept back

static bool ordered, brief;
static uint64_t seed;
static uint64_t passed;
static struct thread *in_flight; // as they come: the call that others wait for
static size_t held;              // as they come: so many wait for it
static bool off_plan;            // anchors are still to come, each when the one before has happened
static size_t next_anchor;       // off the plan
static size_t slept;             // off the plan, since the last anchor
static struct thread *sleeps_on; // until the signal of a timer, in a sleep that is not skipped
static const char *forced = "as asked";

void gate_begin(const struct options *options) {
    ordered = options->ordered;
    brief = options->brief;
    seed = options->seed;
}

uint64_t gate_passed(void) {
    return passed;
}

bool gate_is_ordered(void) {
    return ordered;
}

// What calls of the plan led to is known from the run that is followed.
static void look(struct thread *thread) {
    thread->brief = brief && plan_next();
    call_look(thread);
}

static bool is_call_of(const struct thread *thread, const struct ew_process_turn *turn) {
    return thread->id == (pid_t)turn->thread && thread->call.number == turn->number &&
           thread->name == turn->name;
}

// Off the plan processes may have other numbers: a name says as much.
static bool is_like(const struct thread *thread, const struct ew_process_turn *turn) {
    bool named = turn->name && thread->name == turn->name && thread->call.number == turn->number;
    return named || is_call_of(thread, turn);
}

static void count_likes(struct thread *thread) {
    for (size_t i = 0; i < plan_anchors(); i++)
        thread->like[i] += is_like(thread, plan_anchor(i));
}

// A wait that was over by time in the run that is followed: that time need not go by again.
static bool is_in_vain(const struct thread *thread) {
    const struct ew_process_turn *turn = thread->turn;
    return turn && !(turn->flags & TURN_ANCHOR) && call_ran_out(thread, (int64_t)turn->result);
}

struct sleepers {
    struct thread *owner; // of the process of this timer
    struct timer *timer;
    int64_t shortest; // nanoseconds
};

static void consider_sleeper(struct thread *thread, void *context) {
    struct sleepers *sleepers = context;
    if (thread->where != HELD || !call_waits_for_time(thread))
        return;
    int64_t length = clock_length(thread);
    if (length >= 0 && length < sleepers->shortest)
        sleepers->shortest = length;
    if (thread->process == timer_process(sleepers->timer))
        sleepers->owner = thread;
}

// Those who are held at a sleep, where a timer runs.
static bool find_sleepers(struct sleepers *sleepers) {
    *sleepers = (struct sleepers){NULL, timers_next(0), INT64_MAX};
    if (sleepers->timer)
        threads_each(consider_sleeper, sleepers);
    return sleepers->timer != NULL;
}

// To timers, unless it is the time of who is kept back; of several sleeps the shortest is over.
static void pass_time(const struct thread *thread) {
    struct sleepers sleepers;
    if (!off_plan && find_sleepers(&sleepers) && clock_length(thread) == sleepers.shortest)
        timers_pass(sleepers.shortest);
}

// Broken off by a signal, in the run that is followed or as a timer of its process is due next.
static bool is_broken_off(const struct thread *thread) {
    return thread->turn ? (int64_t)thread->turn->result == -EINTR : thread == sleeps_on;
}

static void let_through(struct thread *thread) {
    passed++;
    bool skipped = ordered && call_waits_for_time(thread) && !is_broken_off(thread);
    if (skipped) // nobody else can go: time goes on
        pass_time(thread);
    sleeps_on = NULL;
    thread->where = IN_CALL;
    thread->call.entered = tick();
    if (ordered)
        ports_choose(thread);
    if (ordered && thread->call.number == SYS_futex)
        clock_shift(thread, &thread->call.a0);
    bool sure = clock_answers(thread) || call_ends_for_sure(thread);
    if (!ordered && !sure && !call_may_wait(thread))
        in_flight = thread;
    if (ordered && call_ends_process(thread))
        loop_expect_end(thread->process);
    count_likes(thread);
    thread->dozed = false;
    if (skipped) {
        slept++;
        clock_slept(thread);
        stop_skip(thread->id, 0);
    } else if (is_in_vain(thread)) {
        polls_find_nothing(thread);
        stop_skip(thread->id, (int64_t)thread->turn->result);
    }
    if (sure) {
        thread->call.flags |= thread->answered ? 0 : CALL_NOT_SEEN_TO_END;
        call_leave(thread, 0);
        thread->where = ABOUT;
    } else if (brief && thread->turn && call_pass(thread)) {
        thread->where = ABOUT;
    }
    thread_goes(thread);
    stop_go(thread->id, thread->where == IN_CALL, 0);
}

// ---- as they come

struct oldest {
    struct thread *thread;
};

static void consider_oldest(struct thread *thread, void *context) {
    struct oldest *oldest = context;
    if (thread->where != HELD)
        return;
    if (!oldest->thread || thread->arrived < oldest->thread->arrived)
        oldest->thread = thread;
}

static bool next_as_they_came(void) {
    struct oldest oldest = {NULL};
    threads_each(consider_oldest, &oldest);
    if (!oldest.thread) { // those that were counted have been killed
        held = 0;
        return false;
    }
    held--;
    look(oldest.thread);
    let_through(oldest.thread);
    return true;
}

void gate_arrive(struct thread *thread) {
    thread->where = HELD;
    if (ordered)
        return;
    if (in_flight && !call_may_wait(thread)) {
        held++;
        return;
    }
    look(thread);
    let_through(thread);
}

void gate_over(struct thread *thread) {
    if (thread != in_flight)
        return;
    in_flight = NULL;
    while (held && !in_flight && next_as_they_came())
        ;
}

bool gate_is_busy(void) {
    return in_flight != NULL;
}

bool gate_pass_sleeper(void) {
    if (!in_flight || !thread_sleeps(in_flight))
        return false;
    in_flight->call.flags |= CALL_OTHERS_WENT_ON;
    gate_over(in_flight);
    return true;
}

// ---- by the plan

static bool stands_before_anchor(struct thread *thread, size_t which) {
    const struct ew_process_turn *turn = plan_anchor(which);
    if (thread->call.number != turn->number || thread->like[which] != turn->occurrence)
        return false;
    look(thread);
    return is_like(thread, turn);
}

// Looks at the call as it is now; what it finds may be another file than the recorded one.
static bool stands_before(struct thread *thread, const struct ew_process_turn *turn) {
    if (!thread || thread->where != HELD || thread->index != turn->index)
        return false;
    look(thread);
    return is_call_of(thread, turn);
}

static void leave_plan(const struct ew_process_turn *turn) {
    char text[160];
    struct thread *thread = thread_find((pid_t)turn->thread);
    const char *instead = !thread                 ? "it is not there"
                          : thread->where != HELD ? "it waits"
                                                  : "it stands before another call";
    snprintf(text, sizeof text, "turn %zu of %zu, call %u of process %u: %s", plan_done() + 1,
             plan_length(), turn->index, turn->thread, instead);
    end_note("left_plan", text);
    next_anchor = plan_anchors_done();
    off_plan = next_anchor + 1 < plan_anchors(); // else the order is as asked
    slept = 0;
    if (off_plan)
        forced = "not reached";
    plan_give_up();
}

// Nobody can go: time goes on until a timer of this process (0: any) is due.
static bool time_goes_on(pid_t process) {
    struct timer *timer = timers_next(process);
    if (!timer || !hangs_until_later())
        return false;
    timer_send(timer);
    return true;
}

static bool next_of_plan(void) {
    const struct ew_process_turn *turn = plan_next();
    if (!turn)
        return false;
    struct thread *thread = thread_find((pid_t)turn->thread);
    bool waits = turn->flags & TURN_WAITS_FOR, makes = turn->child && !waits;
    if (thread && thread->where == IN_CALL && time_goes_on(thread->process))
        return true;
    if (!stands_before(thread, turn) || (makes && !pids_next((pid_t)turn->child))) {
        leave_plan(turn);
        return false;
    }
    thread->turn = turn;
    if (waits)
        call_wait_for(thread, (pid_t)turn->child);
    plan_step();
    let_through(thread);
    return true;
}

// ---- by priorities

static bool is_kept_back(struct thread *thread) {
    for (size_t i = next_anchor + 1; off_plan && i < plan_anchors(); i++)
        if (stands_before_anchor(thread, i))
            return true;
    return false;
}

static uint64_t priority(pid_t id) {
    uint64_t key[2] = {seed, (uint64_t)id};
    return seed ? hash_of(key, sizeof key) : (uint64_t)id;
}

struct choice {
    struct thread *best;
    size_t held;
};

static bool is_better(const struct thread *one, const struct thread *other) {
    if (call_waits_for_time(one) != call_waits_for_time(other))
        return call_waits_for_time(other);
    if (one->passed / FAIR != other->passed / FAIR)
        return one->passed < other->passed;
    // With all its threads: a child that went before a thread of its parent would seem to have come
    // before all that this thread then lets others do.
    if (one->process != other->process)
        return priority(one->process) < priority(other->process);
    if (one->dozed != other->dozed) // it may wait for what the other holds, and look in between
        return other->dozed;
    return priority(one->id) < priority(other->id);
}

static void consider(struct thread *thread, void *context) {
    struct choice *choice = context;
    if (thread->where != HELD || is_kept_back(thread))
        return;
    choice->held++;
    if (!choice->best || is_better(thread, choice->best))
        choice->best = thread;
}

// Nobody can go but those that are kept back: the order that was asked for cannot be had.
static bool give_in(void) {
    if (!off_plan)
        return false;
    forced = thread_find((pid_t)plan_anchor(next_anchor)->thread) ? "blocked" : "ended";
    off_plan = false;
    return true;
}

// Who looks again and again, and sleeps in between, waits for what they are to do: nor can it then.
static void give_in_to_waiting(void) {
    if (!off_plan || slept < LOOKS)
        return;
    forced = "waits";
    off_plan = false;
}

static void pass_anchor(struct thread *thread) {
    if (!off_plan || !stands_before_anchor(thread, next_anchor))
        return;
    next_anchor++;
    slept = 0;
    if (next_anchor + 1 < plan_anchors())
        return;
    forced = "as asked"; // the last comes behind by itself
    off_plan = false;
}

// Where all who could go would sleep for longer than until a timer is due. Its process must sleep
// when it is, and not be held.
static bool timer_comes_first(struct choice *choice) {
    struct sleepers sleepers;
    if (off_plan || !call_waits_for_time(choice->best) || !find_sleepers(&sleepers) ||
        timer_left(sleepers.timer) >= sleepers.shortest || !hangs_until_later())
        return false;
    if (!sleepers.owner) {
        timer_send(sleepers.timer);
        return true;
    }
    choice->best = sleeps_on = sleepers.owner;
    return false;
}

// Of who is awaited time may go on; who is kept back is not kept back for so long.
static bool nobody_can_go(void) {
    if (!off_plan)
        return time_goes_on(0);
    const struct thread *awaited = thread_find((pid_t)plan_anchor(next_anchor)->thread);
    return awaited && time_goes_on(awaited->process);
}

static bool next_by_priority(void) {
    struct choice choice = {0};
    give_in_to_waiting();
    threads_each(consider, &choice);
    if (!choice.best)
        return nobody_can_go() || (give_in() && next_by_priority());
    if (timer_comes_first(&choice))
        return true;
    if (choice.held > 1) // who dozes comes again and again, and would keep all others back
        choice.best->passed += choice.best->dozed ? FAIR : 1;
    look(choice.best);
    pass_anchor(choice.best);
    let_through(choice.best);
    return true;
}

bool gate_next(void) {
    return next_of_plan() || next_by_priority();
}

void gate_tell(void) {
    const struct ew_process_turn *turn = plan_next();
    end_note("forced", turn ? "not reached" : forced);
    end_note_number("turns", plan_done());
}
