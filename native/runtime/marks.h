// SPDX-License-Identifier: Apache-2.0
// Which parts of memory may hold something: one bit for each, which parts that are far apart may
// share. Of what is looked at, most hold nothing.
#ifndef EITHERWAY_MARKS_H
#define EITHERWAY_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#define EW_MARKS_BITS 16
struct ew_marks {
    uint64_t words[(1u << EW_MARKS_BITS) / 64];
};

static inline uint32_t ew_mark_of(uintptr_t part) {
    return (uint32_t)(part * 0x9E3779B97F4A7C15u >> (64 - EW_MARKS_BITS));
}

static inline void ew_mark(struct ew_marks *marks, uintptr_t part) {
    uint32_t mark = ew_mark_of(part);
    marks->words[mark / 64] |= 1ul << mark % 64;
}

static inline void ew_unmark(struct ew_marks *marks, uintptr_t part) {
    uint32_t mark = ew_mark_of(part);
    marks->words[mark / 64] &= ~(1ul << mark % 64);
}

static inline bool ew_is_marked(const struct ew_marks *marks, uintptr_t part) {
    uint32_t mark = ew_mark_of(part);
    return marks->words[mark / 64] >> mark % 64 & 1;
}

#endif
