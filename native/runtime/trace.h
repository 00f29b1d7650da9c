// SPDX-License-Identifier: Apache-2.0
// What the parts of the tracer know of each other; runtime.h has what the others tell it.
#ifndef EITHERWAY_TRACE_H
#define EITHERWAY_TRACE_H

#include "recording.h"
#include "runtime.h"

enum ew_trace_depth { EW_TRACE_SYNC, EW_TRACE_ACCESSES, EW_TRACE_VALUES };

struct ew_trace_request {
    int directory;        // a descriptor, which becomes the tracer's; -1: no trace
    uint32_t depth;       // enum ew_trace_depth
    uint32_t frames;      // callers to tell of each operation
    uint64_t from, until; // steps
    uint64_t low, high;   // of the addresses whose plain accesses are told
    const char *also;     // more of those, "LOW-HIGH,LOW-HIGH"; or NULL
    bool relative;        // those are counted from where the program lies
    bool passing;         // whoever asks reads it at once and forgets it
    bool left;            // what memory is at the end against what it was at the cut: left.h
};

#define EW_TRACE_NOTHING                                                                           \
    (struct ew_trace_request) {                                                                    \
        .directory = -1, .depth = EW_TRACE_ACCESSES, .frames = UINT32_MAX, .until = UINT64_MAX,    \
        .high = UINT64_MAX                                                                         \
    }

void ew_trace_start(const struct ew_trace_request *request);

// --- trace_files.c: the recording, of three streams: events, their values, and what they refer to
EW_DATA struct ew_stream ew_trace_events, ew_trace_values, ew_trace_names;
void ew_trace_files_begin(int directory, bool is_passing); // it becomes the tracer's
void ew_trace_files_finish(void);
void ew_trace_files_resume(void); // after a finish that was too early
void ew_trace_row(struct ew_stream *stream, unsigned type, const void *row);
void ew_trace_tailed(struct ew_stream *stream, unsigned type, const void *row, const void *tail,
                     uint32_t length);
// Says which ELF files are in memory that were not there the last time; where the program lies.
uint64_t ew_trace_modules(void);

// --- sites.c: call sites
void ew_sites_start(uint32_t frames); // the nearest callers that count
uint32_t ew_site(const void *pc);     // of the running thread

uint32_t ew_site_of(const uintptr_t *frames, size_t depth); // in one of them, whoever's

// --- locals.c: variables on stacks
void ew_locals_stack(uintptr_t low, uintptr_t high, bool first);     // there is one
bool ew_local_at(uintptr_t address, struct ew_thread_local *result); // `event` is left alone
uintptr_t ew_stack_end(uintptr_t sp); // of the running thread; 0: that is not its own stack

// --- registers.c: what the two threads of a branch hold where they synchronise
void ew_registers_tell(uint32_t event, unsigned op);

// --- peek.c: memory that may be gone
// Copies; false when it could not be read.
bool ew_peek(void *to, const void *from, size_t size);
uint64_t ew_peek_value(const void *address, size_t size); // as struct ew_thread_value has it

#endif
