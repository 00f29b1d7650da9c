// SPDX-License-Identifier: Apache-2.0
#include "past.h"
#include "readers.h"
#include "sets.h"
#include "splits.h"

#include <string.h>

EW_LARGE uint64_t ew_past_inside[256];
EW_LARGE struct ew_marks ew_past_marks;
uint32_t *ew_past_kept, ew_past_count;
#define KEPT_MAX (1u << 22)

void ew_past_look(uint32_t value, struct ew_past *past) {
    past->one = value;
    past->entries = &past->one;
    past->count = 1;
    if (ew_has_readers(value)) {
        past->count = ew_readers_list(value, &past->entries);
    } else if (value & EW_SET) {
        const struct ew_set *set = ew_set_at(value & ~EW_SET);
        past->entries = set->entries;
        past->count = set->count;
    }
}

void ew_past_drop(uint32_t value) {
    if (!(value & EW_SET) || value == EW_FREED)
        return;
    if (ew_has_readers(value)) {
        ew_readers_drop(value);
        return;
    }
    ew_past_inside[value & 255] = 0;
    ew_set_drop(value & ~EW_SET);
}

void ew_past_keep(uint32_t entry) {
    if (ew_past_count == KEPT_MAX)
        ew_cannot("four million threads touch the same bytes without knowing of each other");
    ew_past_kept[ew_past_count++] = entry;
}

static bool fits_alone(void) {
    return ew_past_count == 1 && ew_past_kept[0] != EW_CONTESTED;
}

void ew_past_settle(uint32_t *side) {
    uint32_t old = *side;
    *side = ew_past_count == 0 ? 0
            : fits_alone()     ? ew_past_kept[0]
                               : EW_SET | ew_set_of(ew_past_kept, ew_past_count);
    ew_past_drop(old);
}

void ew_past_start(void) {
    ew_past_kept = ew_pages(KEPT_MAX * sizeof *ew_past_kept);
    ew_sets_start();
    ew_readers_start();
    ew_splits_start();
}

void ew_past_forget(void) {
    memset(ew_past_inside, 0, sizeof ew_past_inside);
    memset(&ew_past_marks, 0, sizeof ew_past_marks);
    ew_sets_forget();
    ew_readers_forget();
    ew_splits_forget();
}
