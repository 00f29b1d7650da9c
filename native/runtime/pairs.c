// SPDX-License-Identifier: Apache-2.0
#include "pairs.h"
#include "guide.h"
#include "hashes.h"

bool ew_pairs_wanted;

// The last operation on each object. One that has the same slot as another takes it: then a pair is
// missed.
#define LASTS 1024
EW_LARGE static struct last {
    uintptr_t object, site;
    uint32_t thread;
    bool changes;
} lasts[LASTS];

extern char __executable_start[] __attribute__((weak, visibility("hidden")));

// Of two operations at one site, which thread's comes first is their order.
static void note(const struct last *one, const struct last *other) {
    uintptr_t low = one->site < other->site ? one->site : other->site;
    uintptr_t high = one->site ^ other->site ^ low;
    bool forward = low == high ? one->thread < other->thread : one->site == low;
    ew_guide_pair(ew_splitmix(low + ew_splitmix(high)), forward ? 1 : 2);
}

void ew_pair_note(const void *object, const void *pc, bool changes) {
    struct last now = {(uintptr_t)object & ~3ul, (uintptr_t)pc - (uintptr_t)__executable_start,
                       ew_self->id, changes};
    struct last *last = &lasts[now.object / 4 % LASTS];
    bool mine = last->object == now.object && last->thread == now.thread;
    if (last->object == now.object && !mine && (changes || last->changes))
        note(last, &now);
    if (!mine || changes || !last->changes) // what a thread has stored it may look at again
        *last = now;
}

void ew_pairs_begin(void) {
    ew_pairs_wanted = ew_detecting && ew_guide_wants_pairs();
}
