// SPDX-License-Identifier: Apache-2.0
// Decides as was decided before up to an access that races; then sees to it that this one and its
// partner come in the order that is asked for, and lets the program run on.
//
// Who goes on after that is told by priorities that come of the seed, of a thread's number and of
// how far it has come itself, not of how many decisions there were in all: so with one seed, runs
// that differ in the order of the two go on alike.
#include "../circles.h"
#include "../due.h"
#include "../guide.h"
#include "../input.h"
#include "../patience.h"
#include "../schedule.h"
#include "../script.h"
#include "../server.h"
#include "policy.h"

static enum { FOLLOW, GO_FIRST, DRIVE, OUTLAST, RELEASE, CATCH_UP, GO_ON } phase;
static struct ew_branch wish;
static uint64_t seed, driven_from, slow_from, released_at, turns, lowest;
static uint64_t rests; // times that time had to pass on the way to the second access
static uint32_t met;
static bool second_was_there; // it may be created only later
static bool owes;             // the first thread its access, while the second goes on
bool ew_branch_listens;
#define KNOWN 256
EW_LARGE static uint32_t own_points[KNOWN]; // of threads, since the recorded way was left

// Seeds: with 0 the first thread goes on, with 1 the second one. With those up to SHORT one of them
// goes on for a few points of its own only, and then it is the other's turn: so what a single
// switch behind the two does is tried and not left to chance. The others draw.
#define SHORT 10
static uint32_t until; // points of the thread that goes on

static void start(uint64_t with, const struct ew_tuning *tuning) {
    if (!ew_schedule_following() || !ew_detecting)
        ew_bad_options("a branch needs a run to follow, and to look for races");
    if ((!tuning->branch.arm && !tuning->branch.stop) || tuning->branch.arm > EW_ARM_PREFIX)
        ew_bad_options("a branch has an arm: 1 to 3");
    wish = tuning->branch;
    ew_schedule_goes_to(wish.cut);
    seed = with;
    phase = FOLLOW;
    met = 0;
    second_was_there = owes = false;
    ew_patience_begin(EW_STUBBORN);
}

// To see whether anybody minds. What is stored afterwards puts an end to it: see where it is
// called.
enum { FIRST_STORES = 1, SECOND_STORES };

static void turn_bits(void) {
    char *at = (char *)wish.address;
    for (uint32_t i = 0; wish.turned && i < wish.size && i < sizeof wish.turned; i++)
        at[i] ^= (char)(wish.turned >> 8 * i);
}

// --- the recorded way

static const struct ew_thread *first_to_come(void) {
    return ew_thread_with(wish.arm == EW_ARM_PREFIX ? wish.second : wish.first);
}

static void leave(void) {
    ew_schedule_leave();
    ew_input_leave();
    driven_from = ew_steps;
    turns = 0;
    for (uint32_t i = 0; i < KNOWN; i++)
        own_points[i] = 0;
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        ew_thread_at(i)->priority = 0;
    ew_registers_await(wish.first); // its access is the next thing that it does
}

// --- on, when the two have happened

// Priorities: at random from HIGH on, above them those of the threads that are to go first, and
// below them those of threads that seem to wait, each lower than the last.
#define HIGH (1ull << 62)
#define FIRST (1ull << 63)

static uint32_t going_on(void) {
    return seed & 1 ? wish.second : wish.first;
}

static uint64_t drawn(const struct ew_thread *thread, uint32_t points) {
    uint64_t draw = ew_splitmix(seed ^ ew_splitmix((uint64_t)thread->id << 32 | points));
    if (seed < SHORT && thread->id == going_on())
        return points < until ? FIRST : HIGH;
    bool is_next =
        seed >= 2 && seed < SHORT && (thread->id == wish.first || thread->id == wish.second);
    return is_next ? FIRST - 1 : HIGH + (draw >> 2);
}

// At one of so many points of a thread its priority changes: with some seeds often, with others
// seldom.
static bool changes(const struct ew_thread *thread, uint32_t points) {
    if (seed < SHORT)
        return thread->id == going_on() && points == until;
    return ew_splitmix(drawn(thread, points)) % (1 + (seed & 3)) == 0;
}

static uint32_t points_of(const struct ew_thread *thread) {
    return thread->id < KNOWN ? own_points[thread->id] : 0;
}

// As its last change has it.
static uint64_t current(const struct ew_thread *thread) {
    uint32_t points = points_of(thread);
    while (points && seed >= SHORT && !changes(thread, points))
        points--;
    return drawn(thread, points);
}

static void set_until(void) {
    const struct ew_thread *thread = ew_thread_with(going_on());
    until = seed < 2 ? UINT32_MAX : (thread ? points_of(thread) : 0) + (uint32_t)seed / 2;
}

static bool is_own_point(const struct ew_decision *decision) {
    return decision->running && decision->why != EW_WHY_ACCESS && ew_self->id < KNOWN;
}

// Counts a point; whether the thread's priority changes at it.
static bool pass(const struct ew_decision *decision) {
    return is_own_point(decision) && changes(ew_self, ++own_points[ew_self->id]);
}

// Of those that need not wait until the outside has heard more; EW_DECIDE_AGAIN: all do.
static uint32_t highest(const struct ew_decision *decision) {
    uint32_t best = EW_DECIDE_AGAIN;
    for (uint32_t i = 0; i < decision->count; i++)
        if (!ew_script_holds(decision->ready[i]) &&
            (best == EW_DECIDE_AGAIN ||
             decision->ready[i]->priority > decision->ready[best]->priority))
            best = i;
    return best;
}

// Whether the outside does something before anything is due.
static bool outside_acts(void) {
    int64_t due = ew_due_while_idle(), left = due == EW_NEVER ? -1 : due - ew_elapsed();
    return ew_look_outside(due != EW_NEVER && left < 0 ? 0 : left);
}

uint32_t ew_branch_wait(const struct ew_decision *decision) {
    if (outside_acts())
        return EW_DECIDE_AGAIN;
    return ew_due_while_idle() != EW_NEVER ? EW_TIME_PASSES : ew_highest(decision);
}

static uint32_t go_on(const struct ew_decision *decision) {
    if (wish.longest && ew_steps - released_at > wish.longest)
        ew_guide_too_long();
    for (uint32_t i = 0; i < decision->count; i++)
        if (!decision->ready[i]->priority)
            decision->ready[i]->priority = current(decision->ready[i]);
    if (ew_seems_to_wait(decision))
        ew_self->priority = --lowest;
    uint32_t best = highest(decision);
    if (owes && (best == EW_DECIDE_AGAIN || decision->ready[best]->id != wish.second)) {
        const struct ew_thread *first = ew_thread_with(wish.first);
        owes = false;
        if (first && first->state == EW_READY)
            return first->ready_at; // before anybody else: nothing but the two changes places
    }
    return best == EW_DECIDE_AGAIN ? ew_branch_wait(decision) : best;
}

// To the second thread, until it comes to what the two are about. Before each access to that it is
// decided who goes on; of others so seldom that the way there is no longer than in other runs.
static void go_to_second(void) {
    phase = DRIVE;
    rests = 0;
    ew_accesses_ask_at(wish.address, wish.address + wish.size);
    ew_circles_begin(ew_detecting, ew_thread_with(wish.first));
}

static void listen_no_more(void) {
    ew_branch_listens = false;
    ew_accesses_ask_at(0, 0);
}

static void release(void) {
    phase = GO_ON;
    released_at = ew_steps;
    listen_no_more();
    lowest = HIGH;
    set_until();
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        ew_thread_at(i)->priority = 0;
    ew_patience_begin(EW_STUBBORN);
    ew_circles_begin(ew_detecting, NULL);
}

// --- to the second access

// With what the thread does that is going on now; right behind it, it is decided who goes on.
static void is_ordered(void) {
    listen_no_more();
    ew_circles_begin(false, NULL);
    ew_accesses_cut();
    ew_registers_await(wish.second);
    ew_guide_pair_is(EW_PAIR_ORDERED);
    phase = wish.slow ? OUTLAST : RELEASE;
    slow_from = ew_steps;
}

// Whether a third thread is about to touch what the two are about. What it does between them would
// be taken for the doing of their order: the first thread may be held between a load and a store,
// and the third may load what it stores from later.
static bool interferes(const struct ew_thread *thread) {
    const struct ew_about *next =
        thread->about.why == EW_WHY_ACCESS ? &thread->access : &thread->about;
    uintptr_t low = (uintptr_t)next->object;
    return thread->id != wish.second && low < wish.address + wish.size &&
           wish.address < low + next->size;
}

static bool had_its_turn_earlier(const struct ew_thread *one, const struct ew_thread *other) {
    if (interferes(one) != interferes(other))
        return interferes(other);
    return one->priority < other->priority ||
           (one->priority == other->priority && one->id < other->id);
}

// Of those that are not held, the second thread; while it seems to wait, whoever had no turn for
// the longest time, and last of all who interferes.
static struct ew_thread *driver(const struct ew_decision *decision, bool waits) {
    struct ew_thread *best = NULL;
    for (uint32_t i = 0; i < decision->count; i++) {
        struct ew_thread *thread = decision->ready[i];
        if (thread->id == wish.first || ew_script_holds(thread))
            continue;
        if (thread->id == wish.second && !waits)
            return thread;
        if (!best || had_its_turn_earlier(thread, best))
            best = thread;
    }
    return best;
}

void ew_branch_hear(unsigned op, const void *object, size_t size) {
    uintptr_t low = (uintptr_t)object;
    bool is_the_access = ew_self->id == wish.second && op == wish.op &&
                         low < wish.address + wish.size && wish.address < low + size;
    if (is_the_access && ++met == wish.times)
        is_ordered();
}

// Why it cannot be done, or EW_PAIR_HELD.
static enum ew_pair_end obstacle(const struct ew_thread *next) {
    const struct ew_thread *second = ew_thread_with(wish.second);
    second_was_there |= second != NULL;
    if (second ? second->state == EW_ENDED : second_was_there)
        return EW_PAIR_ENDED;
    bool stalled = ew_script_is_stalled();
    if (ew_circles_closed_without_held())
        return EW_PAIR_WAITS;
    if (ew_steps - driven_from > wish.patience || rests > wish.rests)
        return stalled ? EW_PAIR_UNKNOWN : EW_PAIR_WAITS;
    if (next || ew_due_while_idle() != EW_NEVER)
        return EW_PAIR_HELD;
    return stalled ? EW_PAIR_UNKNOWN : EW_PAIR_BLOCKED;
}

// With most seeds the others go on too, now and then: the second thread may need what they do.
static bool lets_others(const struct ew_decision *decision) {
    bool waits = ew_seems_to_wait(decision);
    return waits || (seed >= 2 && ew_splitmix(seed + turns) % 4 == 0);
}

static uint32_t drive(const struct ew_decision *decision) {
    struct ew_thread *next = driver(decision, lets_others(decision));
    if (!next && outside_acts())
        return EW_DECIDE_AGAIN;
    enum ew_pair_end why_not = obstacle(next);
    if (why_not != EW_PAIR_HELD) {
        ew_guide_pair_is(why_not);
        release();
        return go_on(decision);
    }
    if (!next) {
        rests++;
        return EW_TIME_PASSES;
    }
    next->priority = ++turns;
    return next->ready_at;
}

// --- the policy

// A run that stands still stays behind; what goes on is a copy with a wish of its own.
static void stand(void) {
    const struct ew_options *own = ew_serve_here();
    start(own->seed, &own->tuning);
    if (wish.arm && wish.cut < ew_steps)
        ew_bad_options("a branch cannot begin behind its first access");
}

static uint32_t follow(const struct ew_decision *decision) {
    while (wish.stop && ew_steps >= wish.stop)
        stand();
    uint32_t index = ew_policy_replay.next(decision);
    if (index == EW_TIME_PASSES || ew_steps < wish.cut)
        return index;
    if (ew_steps > wish.cut || decision->ready[index] != first_to_come())
        ew_schedule_diverged("the branch diverged: the first access is not where it was");
    leave();
    if (!(wish.stores & (wish.arm == EW_ARM_FLIP ? SECOND_STORES : FIRST_STORES)))
        turn_bits(); // whoever comes first looks at them
    if (wish.arm == EW_ARM_PREFIX) {
        is_ordered();
        return index;
    }
    ew_branch_listens = true;
    ew_guide_pair_is(EW_PAIR_HELD);
    phase = GO_FIRST;
    if (wish.arm == EW_ARM_CONTROL)
        return index;
    go_to_second();
    return drive(decision);
}

// The first thread has made its access, and is held where it is asked next.
static void hold(void) {
    if (wish.stores & FIRST_STORES)
        turn_bits();
    go_to_second();
    driven_from = ew_steps;
}

// When the two are turned round, the first thread makes its access right behind the other's: so
// from there on both stand where they stand when they came as recorded. But where the second thread
// is to go on, it does so while the first has yet to make its access: what it reads next may be
// older too.
static const struct ew_thread *left_behind(void) {
    const struct ew_thread *first = ew_thread_with(wish.first);
    bool is_there = wish.arm == EW_ARM_FLIP && first && first->state == EW_READY;
    owes = is_there && seed < SHORT && going_on() == wish.second;
    return is_there && !owes ? first : NULL;
}

// A thread may be slow: in each order the first is held on while the second looks again, however
// often it does, until that blocks or ends; for so many steps, for it may wait for the first.
static const struct ew_thread *outlasting(void) {
    const struct ew_thread *second = ew_thread_with(wish.second);
    bool goes_on = second && second->state == EW_READY && !ew_script_holds(second);
    return goes_on && ew_steps - slow_from <= wish.slow ? second : NULL;
}

static uint32_t next(const struct ew_decision *decision) {
    if (phase == FOLLOW)
        return follow(decision);
    if (phase == GO_FIRST)
        hold();
    else if (phase != CATCH_UP && pass(decision) && phase == GO_ON)
        ew_self->priority = 0;
    const struct ew_thread *looks = phase == OUTLAST ? outlasting() : NULL;
    if (looks)
        return looks->ready_at;
    if (phase == OUTLAST)
        phase = RELEASE;
    if (phase == RELEASE && wish.stores & SECOND_STORES)
        turn_bits();
    const struct ew_thread *first = phase == RELEASE ? left_behind() : NULL;
    if (first) {
        phase = CATCH_UP;
        return first->ready_at;
    }
    if (phase == RELEASE || phase == CATCH_UP)
        release();
    return phase == DRIVE ? drive(decision) : go_on(decision);
}

static uint32_t pick(uint32_t count) {
    return phase == FOLLOW ? ew_policy_replay.pick(count) : (uint32_t)(ew_splitmix(seed) % count);
}

static int64_t accesses(int64_t left) {
    if (phase != FOLLOW)
        return ew_few_accesses(0);
    int64_t recorded = ew_policy_replay.accesses(left);
    uint64_t here = wish.stop ? wish.stop : ew_steps < wish.pause ? wish.pause : wish.cut;
    int64_t asked = (int64_t)(here - ew_steps) - 1;
    return asked >= 0 && asked < recorded ? asked : recorded;
}

const struct ew_policy ew_policy_branch = {"branch", start, next, pick, accesses, true};
