// SPDX-License-Identifier: Apache-2.0
// What each thread knows of the others: happens-before of the run, while it goes on.
//
// A *segment* is what a thread does between two releases, or less. One carrier runs all threads, so
// segments are numbered in one sequence, handed out to threads in blocks. The number of a segment
// says whose it is, and "it happened before" is one comparison: its number is not above what the
// running thread knows of that slot. A slot belongs to one living thread at a time.
#ifndef EITHERWAY_CLOCKS_H
#define EITHERWAY_CLOCKS_H

#include "runtime.h"
#include "vectors.h"

#define EW_SEGMENT_BITS 26
#define EW_BLOCK_BITS 8
#define EW_SEGMENTS (1u << EW_SEGMENT_BITS)

EW_DATA uint32_t ew_current;      // the running thread's entry: its segment << 4 | 15
EW_DATA uint32_t ew_slot;         // its slot
EW_DATA const uint32_t *ew_clock; // what it knows, by slot
EW_DATA uint16_t *ew_slot_of;     // by block of segments

static inline uint32_t ew_slot_of_segment(uint32_t segment) {
    return ew_slot_of[segment >> EW_BLOCK_BITS];
}

uint32_t ew_thread_of_segment(uint32_t segment); // its number

static inline bool ew_segment_is_known(uint32_t segment) {
    return segment <= ew_clock[ew_slot_of_segment(segment)];
}

void ew_clocks_start(void);    // the running thread is the only one
void ew_clocks_switched(void); // another thread runs now
void ew_clocks_forked(void);
// The running thread has touched what is shared: it may have made known what only it had touched,
// without releasing anything. So what it touched before lets nothing pass from here on: what it
// does there next may be at a shared place, where it has to be asked.
void ew_clocks_shared(void);
void ew_clocks_event(unsigned op, unsigned flags, const void *object);
void ew_clocks_life(unsigned op, struct ew_thread *other);
void ew_clocks_acquire(unsigned op, const void *object, int order); // of an atomic operation
void ew_clocks_release(unsigned op, const void *object, int order);
void ew_clocks_fence(int order);
void ew_clocks_woken(struct ew_thread *thread); // by the wake that was last told
void ew_clocks_forget(struct ew_thread *thread);

#endif
