// SPDX-License-Identifier: Apache-2.0
#include "circles.h"
#include "bare.h"
#include "descriptors.h"
#include "due.h"
#include "family_memory.h"
#include "fingerprint.h"
#include "races.h"
#include "schedule.h"
#include "threads.h"
#include "timers.h"

#define FIRST_LOOK (1u << 14) // quiet decision points until the first look; each later one at twice
#define ACCESSES 64           // points for which one stands that many plain accesses led to
#define KEPT 64               // states of one look, each at the beginning of a cycle of turns
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
static uint64_t quiet, next_look, taken;
static struct {
    uint64_t until; // as much is taken
    uint32_t length, left;
    uint32_t state_count;
    uint64_t states[KEPT];
} watch;

void ew_circles_begin(bool look) {
    ew_circles_looked_for = look;
    ew_circles_disturb();
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
           !ew_handles_signals() && ew_memory_used(&ew_noted) <= 1;
}

static void begin_look(void) {
    next_look = 2 * quiet;
    if (!is_apart())
        return;
    uint64_t least = (uint64_t)LEAST * CYCLE * ew_ready_count, part = taken / SHARE;
    least = least < taken / 2 ? least : taken / 2;
    watch.until = taken + (part > least ? part : least);
    watch.length = watch.left = watch.state_count = 0;
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

static bool was_here(uint64_t state) {
    for (uint32_t i = 0; i < watch.state_count; i++)
        if (watch.states[i] == state)
            return true;
    return false;
}

// Who changes so much is at work. Threads that wait by looking change little beside their stacks.
static bool is_at_work(const struct ew_fingerprint *state) {
    return watch.state_count && state->changed > MANY + MANY / 4 * ew_thread_count();
}

static void begin_cycle(void) {
    static struct ew_fingerprint state; // not on the stack, which is part of what is looked at
    if (taken >= watch.until || watch.state_count == KEPT || !is_apart() ||
        !ew_fingerprint(&state) || is_at_work(&state)) {
        ew_circles_watched = false;
        return;
    }
    if (was_here(state.hash))
        ew_circles_closed();
    watch.states[watch.state_count++] = state.hash;
    taken += state.pages * PAGE_TAKES;
}

// The ready thread with the next higher number, or the first.
static struct ew_thread *next_in_turn(uint32_t after, bool *first) {
    struct ew_thread *best = NULL, *lowest = ew_ready[0];
    for (uint32_t i = 0; i < ew_ready_count; i++) {
        struct ew_thread *thread = ew_ready[i];
        if (thread->id < lowest->id)
            lowest = thread;
        if (thread->id > after && (!best || thread->id < best->id))
            best = thread;
    }
    *first = !best;
    return best ? best : lowest;
}

struct ew_thread *ew_circles_next(enum ew_why why) {
    bool round = false;
    if (ew_self->state == EW_READY && why != EW_WHY_YIELD && watch.left) {
        watch.left--;
        return ew_self;
    }
    struct ew_thread *next = next_in_turn(ew_self->id, &round);
    if (round)
        watch.length = (watch.length + 1) % LENGTHS;
    if (round && watch.length == 0)
        begin_cycle();
    watch.left = lengths[watch.length] - 1;
    return next;
}

// --- the end

_Noreturn void ew_circles_closed(void) {
    static char words[] = "eitherway: hang: the program goes round in circles\n";
    ew_schedule_note(EW_SWITCH_CIRCLE, ew_self->id);
    ew_hung();
    ew_say(&(struct iovec){words, sizeof words - 1}, 1);
    ew_end(EW_BARE_STATUS);
}
