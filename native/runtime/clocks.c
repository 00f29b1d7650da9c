// SPDX-License-Identifier: Apache-2.0
#include "clocks.h"
#include "family.h"
#include "objects.h"
#include "places.h"
#include "readers.h"
#include "shadow.h"

#include <string.h>

uint32_t ew_slot;
const uint32_t *ew_clock;
uint16_t *ew_slot_of;
static uint32_t *thread_of; // by block of segments

uint32_t ew_thread_of_segment(uint32_t segment) {
    return thread_of[segment >> EW_BLOCK_BITS];
}

static struct ew_times *times(void) {
    return &ew_self->times;
}

static void show(void) {
    ew_current = times()->segment << 4 | 15;
    ew_slot = times()->slot;
    ew_readers_are_of(ew_slot);
    ew_clock = times()->clock->at;
}

void ew_clocks_switched(void) {
    if (times()->clock)
        show();
}

// --- segments

static uint32_t next_block = 1; // segment 0 is before everything
static void forget_history(void);

#define BLOCKS (EW_SEGMENTS >> EW_BLOCK_BITS)

static void take_block(struct ew_times *mine) {
    ew_slot_of[next_block] = mine->slot;
    thread_of[next_block] = mine->thread;
    mine->segment = next_block++ << EW_BLOCK_BITS;
}

static void begin_segment(void) {
    struct ew_times *mine = times();
    if ((++mine->segment & ((1u << EW_BLOCK_BITS) - 1)) == 0) {
        if (UNLIKELY(next_block == BLOCKS)) {
            forget_history();
            return;
        }
        take_block(mine);
    }
    mine->clock->at[mine->slot] = mine->segment;
    show();
}

// --- slots

static struct free_slot {
    uint32_t slot, last; // the last segment of its last thread
} *free_slots;
static uint32_t free_count, free_room, slots;
#define LOOK_AT 32
#define SLOTS (UINT16_MAX + 1u) // see ew_slot_of

static uint32_t known(const struct ew_vector *clock, uint32_t slot) {
    return clock && slot < clock->length ? clock->at[slot] : 0;
}

// One whose last thread's end the creator knows of: then who knows the new one knows the old one.
static bool take_free_slot(const struct ew_vector *creator, uint32_t *slot) {
    uint32_t looked = free_count < LOOK_AT ? free_count : LOOK_AT;
    for (uint32_t i = 0; i < looked; i++) {
        struct free_slot *at = &free_slots[free_count - 1 - i], found = *at;
        if (known(creator, found.slot) < found.last)
            continue;
        *at = free_slots[--free_count];
        *slot = found.slot;
        return true;
    }
    return false;
}

// Of threads that nobody joins, nobody knows the end: such slots are free when it is forgotten.
static uint32_t new_slot(void) {
    if (slots == SLOTS)
        forget_history();
    if (slots == SLOTS)
        ew_cannot("more than 65,536 threads at once, while races are looked for");
    return slots++;
}

static void give_slot(uint32_t slot, uint32_t last) {
    if (free_count == free_room) {
        uint32_t room = free_room ? free_room * 2 : 512;
        free_slots =
            ew_more_pages(free_slots, free_room * sizeof *free_slots, room * sizeof *free_slots);
        free_room = room;
    }
    free_slots[free_count++] = (struct free_slot){slot, last};
}

// Every living thread's clock has a place for every slot, so that nobody needs to ask.
static void make_places(void) {
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        if (ew_thread_at(i)->times.clock)
            ew_vector_reach(&ew_thread_at(i)->times.clock, slots);
}

static void give_clock(struct ew_thread *thread, const struct ew_vector *creator) {
    struct ew_times *mine = &thread->times;
    if (UNLIKELY(next_block == BLOCKS))
        forget_history();
    bool is_free = take_free_slot(creator, &mine->slot);
    if (!is_free)
        mine->slot = new_slot();
    mine->thread = thread->id;
    ew_vector_copy(&mine->clock, creator);
    ew_vector_reach(&mine->clock, slots);
    take_block(mine);
    mine->clock->at[mine->slot] = mine->segment;
    if (!is_free)
        make_places();
}

// --- events; edges.py says the same of a trace

static void learn(const struct ew_vector *what) {
    ew_vector_join(&times()->clock, what); // never moves: it has a place for every slot
}

// Who knows a segment that is over knows all that it knew.
static void acquire(const struct ew_sync_object *object, bool shared) {
    if (!object)
        return;
    if (!object->by || !ew_segment_is_known(object->by))
        learn(object->released);
    else
        __builtin_prefetch(object->released, 1); // most often it is released soon
    if (!shared && object->shared)
        learn(object->shared);
}

static void release(struct ew_sync_object *object, bool shared) {
    if (shared) {
        ew_vector_join(&object->shared, times()->clock);
    } else {
        object->by = times()->segment;
        ew_vector_copy(&object->released, times()->clock);
        ew_vector_drop(&object->shared);
    }
    begin_segment();
}

static struct ew_vector *last_wake; // while the last event was a wake that counts by itself
static bool last_is_wake;

static void wake(struct ew_sync_object *object, bool cumulative) {
    ew_vector_join(&object->woken, times()->clock);
    last_is_wake = !cumulative;
    if (!cumulative)
        ew_vector_copy(&last_wake, times()->clock);
    begin_segment();
}

void ew_clocks_woken(struct ew_thread *thread) {
    if (last_is_wake)
        ew_vector_copy(&thread->times.woken, last_wake);
}

static void wait(const struct ew_sync_object *object) {
    if (times()->woken)
        learn(times()->woken);
    else if (object)
        learn(object->woken);
}

void ew_clocks_event(unsigned op, unsigned flags, const void *object) {
    bool happened = !(flags & (EW_FLAG_FAILED | EW_FLAG_BLOCKED)), shared = flags & EW_FLAG_SHARED;
    last_is_wake = false;
    if (op == EW_OP_ACQUIRE && happened)
        acquire(ew_object_if_any(object), shared);
    else if (op == EW_OP_RELEASE && happened)
        release(ew_object_at(object), shared);
    else if (op == EW_OP_WAKE)
        wake(ew_object_at(object), flags & EW_FLAG_CUMULATIVE);
    else if (op == EW_OP_WAIT && happened)
        wait(ew_object_if_any(object));
    ew_vector_drop(&times()->woken);
}

void ew_clocks_life(unsigned op, struct ew_thread *other) {
    last_is_wake = false;
    if (op == EW_OP_START) {
        give_clock(other, times()->clock);
        begin_segment();
    } else if (op == EW_OP_JOIN) {
        learn(other->times.clock);
    }
}

void ew_clocks_shared(void) {
    begin_segment();
}

void ew_clocks_forget(struct ew_thread *thread) {
    struct ew_times *old = &thread->times;
    if (!old->clock)
        return;
    give_slot(old->slot, old->segment);
    ew_vector_drop(&old->clock);
    ew_vector_drop(&old->loaded);
    ew_vector_drop(&old->fenced);
    ew_vector_drop(&old->woken);
}

// --- atomic operations, as C11 5.1.2.4 and 7.17.4 order them

static bool acquires(int order) {
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order) {
    return order >= __ATOMIC_RELEASE;
}

// A store goes on with the release sequences of its own thread, and ends those of all others.
static void store(struct ew_sync_object *object, const struct ew_vector *what) {
    uint32_t me = times()->thread + 1;
    object->by = 0;
    if (object->stored_by != me)
        ew_vector_drop(&object->released);
    else if (object->mixed)
        ew_vector_copy(&object->released, object->own);
    ew_vector_drop(&object->own);
    object->mixed = false;
    ew_vector_join(&object->released, what);
    object->stored_by = me;
}

// A read-modify-write goes on with all.
static void update(struct ew_sync_object *object, const struct ew_vector *what) {
    bool mine = object->stored_by == times()->thread + 1;
    object->by = 0;
    if (!mine && what && object->stored_by && !object->mixed) {
        ew_vector_copy(&object->own, object->released);
        object->mixed = true;
    } else if (mine && object->mixed) {
        ew_vector_join(&object->own, what);
    }
    ew_vector_join(&object->released, what);
}

// What a relaxed operation releases is what was known at the last fence.
void ew_clocks_release(unsigned op, const void *address, int order) {
    if (op == EW_OP_LOAD)
        return;
    const struct ew_vector *what = releases(order) ? times()->clock : times()->fenced;
    struct ew_sync_object *object = what ? ew_object_at(address) : ew_object_if_any(address);
    if (object)
        (op == EW_OP_STORE ? store : update)(object, what);
    if (releases(order) || ew_places_any) // see ew_clocks_shared
        begin_segment();
}

void ew_clocks_acquire(unsigned op, const void *address, int order) {
    const struct ew_sync_object *object = ew_object_if_any(address);
    last_is_wake = false;
    ew_vector_drop(&times()->woken);
    if (op == EW_OP_STORE || !object || !object->released)
        return;
    if (acquires(order))
        learn(object->released);
    else
        ew_vector_join(&times()->loaded, object->released);
}

void ew_clocks_fence(int order) {
    last_is_wake = false;
    if (acquires(order)) {
        learn(times()->loaded);
        ew_vector_drop(&times()->loaded);
    }
    if (releases(order)) {
        ew_vector_copy(&times()->fenced, times()->clock);
        begin_segment();
    }
}

// --- beginning, and beginning again

// Everything so far counts as known to everybody: races with it are missed, none is invented. Its
// clock stays where it is: a thread that is being created copies it.
static void begin_again(struct ew_thread *thread) {
    struct ew_times *mine = &thread->times;
    if (!mine->clock)
        return;
    memset(mine->clock->at, 0, mine->clock->length * sizeof *mine->clock->at);
    mine->slot = slots++;
    mine->clock->length = slots;
    ew_vector_drop(&mine->loaded);
    ew_vector_drop(&mine->fenced);
    ew_vector_drop(&mine->woken);
    take_block(mine);
    mine->clock->at[mine->slot] = mine->segment;
}

static EW_COLD void forget_history(void) {
    last_is_wake = false; // it knew what is forgotten
    ew_family_forgot();
    ew_shadow_forget();
    ew_objects_forget();
    next_block = 1;
    free_count = slots = 0;
    for (uint32_t i = 0; i < ew_thread_count(); i++)
        begin_again(ew_thread_at(i));
    make_places();
    show();
}

void ew_clocks_start(void) {
    // Entries that are no plain segment index beyond the last block, and find slot 0.
    ew_slot_of = ew_pages((sizeof *ew_slot_of << 32) >> (4 + EW_BLOCK_BITS));
    thread_of = ew_pages(sizeof *thread_of << (EW_SEGMENT_BITS - EW_BLOCK_BITS));
    give_clock(ew_self, NULL);
    show();
}

// The others are gone, but not what they did before, nor what they released by then.
void ew_clocks_forked(void) {
    last_is_wake = false;
}
