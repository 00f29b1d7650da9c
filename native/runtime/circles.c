// SPDX-License-Identifier: Apache-2.0
#include "circles.h"
#include "bare.h"
#include "descriptors.h"
#include "due.h"
#include "family_memory.h"
#include "fingerprint.h"
#include "races.h"
#include "schedule.h"
#include "script.h"
#include "threads.h"
#include "timers.h"

#define FIRST_LOOK (1u << 14) // quiet decision points until the first look; each later one at twice
#define ACCESSES 64           // points for which one stands that many plain accesses led to
#define KEPT 64               // cycles of turns in one look
#define MANY 16 // pages that change in a cycle, and as many again for each four threads

// Decision points of one turn, in a cycle that gives each thread 2520: so a loop of up to ten
// operations is where it was at the end of each.
static const uint32_t lengths[] = {1, 2, 3, 7, 61, 446, 2000};
#define LENGTHS (sizeof lengths / sizeof *lengths)
#define CYCLE 2520

// What things take, in the time of a point. A look takes a small part of what the run has taken so
// far; until that is enough to go round a few times, half of it.
#define ACCESSES_TAKE 8
#define PAGE_TAKES 16
#define SHARE 16
#define LEAST 6 // cycles

bool ew_circles_watched;
bool ew_circles_looked_for;
static const struct ew_thread *held;
static bool is_round_held; // closed, while one is held
static uint64_t quiet, next_look, taken;
static struct {
    uint64_t until; // as much is taken
    uint32_t length, left;
    struct hashes {
        uint32_t count;
        uint64_t all[KEPT];
    } places, states; // at the beginning of each cycle
} watch;

void ew_circles_begin(bool look, const struct ew_thread *without) {
    ew_circles_looked_for = look;
    held = without;
    is_round_held = false;
    ew_circles_disturb();
}

bool ew_circles_closed_without_held(void) {
    return is_round_held;
}

void ew_circles_disturb(void) {
    ew_circles_watched = false;
    quiet = taken = 0;
    next_look = FIRST_LOOK;
}

// A point that tells what it is about is at memory or a lock; the others may be anything.
static bool is_quiet(enum ew_why why) {
    if (why == EW_WHY_SYNC)
        return ew_self->about.object;
    return why != EW_WHY_START && why != EW_WHY_END;
}

// Others could still change something: then nothing can be said.
static bool is_apart(void) {
    return ew_timers_next(false) == EW_NEVER && !ew_waiting && !ew_signal_arrived &&
           !ew_handles_signals() && ew_memory_used(&ew_noted) <= 1 &&
           !(ew_scripted && ew_script_is_stalled());
}

static void begin_look(void) {
    next_look = 2 * quiet;
    if (!is_apart())
        return;
    uint64_t least = (uint64_t)LEAST * CYCLE * ew_ready_count, part = taken / SHARE;
    least = least < taken / 2 ? least : taken / 2;
    watch.until = taken + (part > least ? part : least);
    watch.length = watch.left = watch.places.count = watch.states.count = 0;
    ew_circles_watched = true;
}

static void count(enum ew_why why) {
    bool many = why == EW_WHY_ACCESS && !ew_circles_watched;
    quiet += many ? ACCESSES : 1;
    taken += many ? ACCESSES_TAKE : 1;
    if (UNLIKELY(quiet >= next_look) && !ew_circles_watched)
        begin_look();
}

void ew_circles_count(enum ew_why why) {
    if (!is_quiet(why))
        ew_circles_disturb();
    else
        count(why);
}

// --- in turn

static bool seen(struct hashes *hashes, uint64_t hash) {
    for (uint32_t i = 0; i < hashes->count; i++)
        if (hashes->all[i] == hash)
            return true;
    hashes->all[hashes->count++] = hash;
    return false;
}

// Who changes so much is at work. Threads that wait by looking change little beside their stacks.
static bool is_at_work(const struct ew_fingerprint *state) {
    return watch.states.count && state->changed > MANY + MANY / 4 * ew_thread_count();
}

static bool close_circle(void) {
    if (!held)
        ew_circles_closed();
    is_round_held = true;
    return false;
}

// All memory takes long to look at, where the threads stand does not: who is in the same state
// again stands at the same places again.
static bool look_on(void) {
    static struct ew_fingerprint state; // not on the stack, which is part of what is looked at
    static uint64_t places;
    if (taken >= watch.until || watch.places.count == KEPT || !is_apart() ||
        !ew_fingerprint_of_places(&places))
        return false;
    if (!seen(&watch.places, places))
        return true;
    if (!ew_fingerprint(&state) || is_at_work(&state))
        return false;
    if (seen(&watch.states, state.hash))
        return close_circle();
    taken += state.pages * PAGE_TAKES;
    return watch.states.count < KEPT;
}

// The ready thread with the next higher number, or the first; NULL when there is only who is held.
static struct ew_thread *next_in_turn(uint32_t after, bool *first) {
    struct ew_thread *best = NULL, *lowest = NULL;
    for (uint32_t i = 0; i < ew_ready_count; i++) {
        struct ew_thread *thread = ew_ready[i];
        if (thread == held)
            continue;
        if (!lowest || thread->id < lowest->id)
            lowest = thread;
        if (thread->id > after && (!best || thread->id < best->id))
            best = thread;
    }
    *first = !best;
    return best ? best : lowest;
}

struct ew_thread *ew_circles_next(enum ew_why why) {
    bool round = false;
    if (ew_self->state == EW_READY && why != EW_WHY_YIELD && watch.left && ew_self != held) {
        watch.left--;
        return ew_self;
    }
    struct ew_thread *next = next_in_turn(ew_self->id, &round);
    if (!next)
        return NULL;
    if (round)
        watch.length = (watch.length + 1) % LENGTHS;
    if (round && watch.length == 0)
        ew_circles_watched = look_on();
    watch.left = lengths[watch.length] - 1;
    return is_round_held ? NULL : next;
}

// --- the end

_Noreturn void ew_circles_closed(void) {
    static char words[] = "eitherway: hang: the program goes round in circles\n";
    ew_schedule_note(EW_SWITCH_CIRCLE, ew_self->id);
    ew_hung();
    ew_say(&(struct iovec){words, sizeof words - 1}, 1);
    ew_end(EW_BARE_STATUS);
}
