// SPDX-License-Identifier: Apache-2.0
// Cells whose bytes have different pasts: each byte has entries of its own, until one cell will do
// again.
//
// Small fields side by side are such, and text that is written letter by letter.
//
// The write of a split cell is its number. Its read is a segment that knew all that its bytes tell:
// who knows that one knows all of them, and need not wait for memory to look at them. Where there
// is none, or a byte has a set, the read is the number too. It has no bytes, lest a hook take it
// for an access.
//
// Nearly all are *narrow*: a read for each byte, and two writes, which say of which bytes they are.
// What that does not hold is *wide*, a cell for each byte: sets, what is atomic, a third write.
// What is old is mostly read, and to store a read nothing has to be waited for.
#ifndef EITHERWAY_SPLITS_H
#define EITHERWAY_SPLITS_H

#include "shadow.h"

#define EW_SPLIT 0x10000000u     // beside EW_SET
#define EW_WIDE 0x08000000u      // beside both
#define EW_SPLITS_MAX (1u << 27) // of each kind

static inline bool ew_is_split(uint32_t value) {
    return (value & (EW_SET | EW_ATOMIC | EW_READERS | EW_SPLIT)) == (EW_SET | EW_SPLIT);
}

// Of one that is split.
static inline bool ew_split_is_wide(const struct ew_cell *cell) {
    return cell->write & EW_WIDE;
}

static inline uint32_t ew_split_number(const struct ew_cell *cell) {
    return cell->write & (EW_SPLITS_MAX - 1);
}

struct ew_narrow {
    uint32_t reads[4];  // by byte
    uint32_t writes[2]; // no byte is in both
};
EW_DATA struct ew_narrow *ew_narrows; // by number of a narrow one

struct ew_wide {
    struct ew_cell bytes[4]; // each has entries of its byte alone
};
EW_DATA struct ew_wide *ew_wides; // by number of a wide one

static inline struct ew_cell *ew_split_wide(const struct ew_cell *cell) {
    return ew_wides[ew_split_number(cell)].bytes;
}

static inline struct ew_narrow *ew_split_narrow(const struct ew_cell *cell) {
    return &ew_narrows[ew_split_number(cell)];
}

static inline uint32_t *ew_split_read_of(const struct ew_cell *cell, uint32_t byte) {
    return ew_split_is_wide(cell) ? &ew_split_wide(cell)[byte].read
                                  : &ew_split_narrow(cell)->reads[byte];
}

// The running thread knows all that its bytes tell, and has done so since it was ...
static inline bool ew_split_is_known(const struct ew_cell *cell) {
    return ew_segment_is_known(cell->read >> 4);
}

// ... in this segment already,
static inline bool ew_split_is_mine(const struct ew_cell *cell) {
    return cell->read == (ew_current & ~EW_BYTES);
}

// ... or from now on.
static inline void ew_split_know(struct ew_cell *cell) {
    cell->read = ew_current & ~EW_BYTES;
}

void ew_split(struct ew_cell *cell); // which has no set and nothing atomic
// For an access to some of its bytes by the running thread, which knows all of its past.
void ew_split_for(struct ew_cell *cell, uint32_t bytes, bool writes);
void ew_split_sets(struct ew_cell *cell);   // which may have, but not for each byte
void ew_split_widen(struct ew_cell *cell);  // where its bytes have to be cells
void ew_split_settle(struct ew_cell *cell); // one cell will do, perhaps, or it is narrow again
void ew_split_unite(struct ew_cell *cell);  // with sets for its bytes
void ew_split_drop(struct ew_cell *cell);
void ew_split_give_back(const struct ew_cell *cell); // which has no sets, and becomes another
void ew_splits_start(void);
void ew_splits_forget(void);

#endif
