// SPDX-License-Identifier: Apache-2.0
// Writes down what happens, as deep as asked; names and edges are made of it later, outside.
#include "trace.h"
#include "left.h"
#include "signals.h"
#include "threads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define NOT_ASKED_FOR (UINT32_MAX - 1)

bool ew_tracing;
static struct ew_trace_request asked;
static uint32_t events, last = NONE; // the last one that was told, or was not asked for

uint32_t ew_trace_position(void) {
    return last;
}

// --- which plain accesses come here

#define RANGES_MAX 65
static struct range {
    uint64_t low, high;
} ranges[RANGES_MAX];
static uint32_t range_count;
static struct ew_span all; // between the first and the last of these

// A pointer that is out of bounds may lead to the end of the address space: what would be beyond is
// not told, nor its very last byte, so that every range has an end.
static uintptr_t end_of(uintptr_t address, size_t size) {
    return size > UINTPTR_MAX - address ? UINTPTR_MAX : address + size;
}

static uint32_t told_size(uintptr_t address, size_t size) {
    size = end_of(address, size) - address;
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static bool in_ranges(uintptr_t address, size_t size) {
    uintptr_t end = end_of(address, size);
    for (uint32_t i = 0; i < range_count; i++)
        if (address < ranges[i].high && end > ranges[i].low)
            return true;
    return false;
}

static uint64_t number_at(const char **text) {
    uint64_t value = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        value = value * 10 + (uint64_t)(**text - '0');
    return value;
}

static void add_range(uint64_t low, uint64_t high, uint64_t origin) {
    if (range_count == RANGES_MAX)
        ew_cannot("EITHERWAY_OPTIONS: a trace of so many ranges cannot be taken");
    struct range added = {low + origin, high + origin};
    all.low = added.low < all.low ? added.low : all.low;
    all.high = added.high > all.high ? added.high : all.high;
    ranges[range_count++] = added;
}

static void read_ranges(uint64_t origin) {
    range_count = 0;
    all = (struct ew_span){.low = UINTPTR_MAX};
    add_range(asked.low, asked.high, origin);
    for (const char *at = asked.also; at && *at; at += *at == ',') {
        uint64_t low = number_at(&at);
        if (*at++ != '-')
            ew_cannot("EITHERWAY_OPTIONS: ranges are LOW-HIGH,LOW-HIGH");
        add_range(low, number_at(&at), origin);
        if (*at && *at != ',')
            ew_cannot("EITHERWAY_OPTIONS: ranges are LOW-HIGH,LOW-HIGH");
    }
}

static bool in_window(uint64_t step) {
    return step >= asked.from && step < asked.until;
}

int64_t ew_trace_silent_accesses(void) {
    uint64_t next = ew_step_number() + 1;
    if (!ew_tracing || asked.depth == EW_TRACE_SYNC || next >= asked.until)
        return INT64_MAX;
    uint64_t before = asked.from > next ? asked.from - next : 0;
    return before < INT64_MAX ? (int64_t)before : INT64_MAX;
}

struct ew_span ew_trace_span(void) {
    return all;
}

int64_t ew_trace_held_at_end(void) {
    uint64_t end = ew_steps + (uint64_t)ew_accesses_granted; // the step with none left
    return end >= asked.until ? (int64_t)(end - asked.until) + 1 : 0;
}

// --- values
//
// A hook comes before its access, so what a store writes is known at the thread's next event.
// Nobody else runs in between: also when it stops running that is made up for, so one is open at
// most.

bool ew_trace_unsettled;
static struct {
    const void *address;
    size_t size;
    uint32_t corrected; // the event that was told with what stood there before, or NONE
    uint64_t before, copied;
} unsettled;

static void correct(uint64_t value) {
    struct ew_thread_correction row = {.value = value, .event = unsettled.corrected};
    if (value != unsettled.before && value == unsettled.copied)
        ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_CORRECTIONS, &row);
}

void ew_trace_settle(void) {
    if (!ew_trace_unsettled)
        return;
    ew_trace_unsettled = false;
    struct ew_thread_value row = {ew_peek_value(unsettled.address, unsettled.size)};
    if (unsettled.corrected != NONE)
        correct(row.value);
    else
        ew_trace_row(&ew_trace_values, EW_BLOCK_THREAD_VALUES, &row);
}

static void open_store(const void *address, size_t size, uint32_t corrected) {
    unsettled.address = address;
    unsettled.size = size;
    unsettled.corrected = corrected;
    ew_trace_unsettled = true;
}

// A plain load behind a store of the same size: they may be a structure that is copied, and the
// store still to come. It is, if what was loaded then stands there, and did not before.
static void doubt_last_store(uint64_t loaded) {
    unsettled.before = ew_peek_value(ew_self->stored.address, ew_self->stored.size);
    unsettled.copied = loaded;
    open_store(ew_self->stored.address, ew_self->stored.size, ew_self->stored.event);
}

static void tell_load(const struct ew_thread_event *event) {
    const void *address = (const void *)(uintptr_t)event->address;
    struct ew_thread_value row = {ew_peek_value(address, event->size)};
    ew_trace_row(&ew_trace_values, EW_BLOCK_THREAD_VALUES, &row);
    if (ew_self->stored.address && ew_self->stored.size == event->size && !event->flags)
        doubt_last_store(row.value);
    ew_self->stored.address = NULL;
}

static void tell_store(const struct ew_thread_event *event) {
    const void *address = (const void *)(uintptr_t)event->address;
    open_store(address, event->size, NONE);
    ew_self->stored.address = event->flags ? NULL : address;
    ew_self->stored.size = event->size;
    ew_self->stored.event = events;
}

static void tell_value(const struct ew_thread_event *event) {
    static const struct ew_thread_value nothing;
    if (event->op == EW_OP_LOAD) {
        tell_load(event);
    } else if (event->op == EW_OP_STORE || event->op == EW_OP_UPDATE) {
        tell_store(event);
    } else {
        ew_trace_row(&ew_trace_values, EW_BLOCK_THREAD_VALUES, &nothing);
        ew_self->stored.address = NULL;
    }
}

// --- events

// Lives of threads have small numbers for addresses, where no stack is.
static void tell_local(uint64_t address) {
    struct ew_thread_local row = {.event = events};
    if (ew_local_at(address, &row))
        ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_LOCALS, &row);
}

static bool is_plain(const struct ew_thread_event *event) {
    return event->op <= EW_OP_FREE && !(event->flags & EW_FLAG_ATOMIC);
}

static void tell(struct ew_thread_event event, const void *pc) {
    if (events == NOT_ASKED_FOR)
        ew_cannot("the trace has more than four thousand million operations; ask for fewer steps");
    event.step = ew_step_number();
    event.thread = ew_self->id;
    event.site = ew_site(pc);
    event.follows = event.op == EW_OP_WAIT ? ew_self->woken_by : NONE;
    tell_local(event.address);
    ew_trace_row(&ew_trace_events, EW_BLOCK_THREAD_EVENTS, &event);
    if (asked.depth == EW_TRACE_VALUES)
        tell_value(&event);
    if (asked.depth == EW_TRACE_VALUES && !is_plain(&event))
        ew_registers_tell(events, event.op);
    last = events++;
}

static void tell_if_asked(struct ew_thread_event event, const void *pc) {
    ew_trace_settle();
    if (event.size && in_window(ew_step_number()))
        tell(event, pc);
    else
        last = NOT_ASKED_FOR;
    ew_self->woken_by = NONE;
}

void ew_trace(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    struct ew_thread_event event = {
        .address = (uintptr_t)object,
        .size = told_size((uintptr_t)object, size),
        .op = (uint8_t)op,
        .flags = (uint8_t)flags,
    };
    tell_if_asked(event, pc);
}

void ew_trace_atomic(unsigned op, const void *object, size_t size, const void *pc, int order) {
    struct ew_thread_event event = {
        .address = (uintptr_t)object,
        .size = told_size((uintptr_t)object, size),
        .op = (uint8_t)op,
        .flags = EW_FLAG_ATOMIC,
        .order = (uint8_t)order,
    };
    tell_if_asked(event, pc);
}

void ew_trace_fence(int order, const void *pc) {
    struct ew_thread_event event = {
        .address = ew_self->id, // it is the thread's own business
        .size = 1,
        .op = EW_OP_OTHER,
        .flags = EW_FLAG_ATOMIC,
        .order = (uint8_t)order,
    };
    tell_if_asked(event, pc);
}

static bool is_asked_for(uintptr_t address, size_t size) {
    return asked.depth > EW_TRACE_SYNC && in_ranges(address, size);
}

// All that was asked for is there, and safe from whatever the program dies of later.
static EW_COLD void pass_the_last(void) {
    static bool passed;
    ew_trace_settle();
    ew_accesses_hold();
    if (!passed)
        ew_stream_flush(&ew_trace_events); // an error stays, and is met at the end
    passed = true;
}

void ew_trace_access(unsigned op, unsigned flags, const void *object, size_t size, const void *pc) {
    if (ew_step_number() >= asked.until) {
        pass_the_last();
    } else if (is_asked_for((uintptr_t)object, size)) {
        ew_trace(op, flags, object, size, pc);
    }
}

// What threads synchronised with in a block ends with it, which is part of the order also where
// the block itself is not asked for. Nothing is known of such a block: then it is no access.
void ew_trace_free(const void *block, size_t size, const void *pc, bool orders) {
    if (is_asked_for((uintptr_t)block, size))
        ew_trace_access(EW_OP_FREE, 0, block, size, pc);
    else if (orders)
        ew_trace(EW_OP_OTHER, 0, block, size, pc);
}

// Told at any step up to the last: an operation may touch what came to be long before.
void ew_trace_block(enum ew_memory what, const void *start, size_t size, const void *pc) {
    uintptr_t address = (uintptr_t)start;
    if (ew_step_number() >= asked.until || !in_ranges(address, size))
        return;
    struct ew_thread_memory row = {.address = address,
                                   .size = size,
                                   .event = events,
                                   .site = ew_site(pc),
                                   .thread = ew_self->id,
                                   .what = what};
    ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_MEMORY, &row);
    if (what == EW_MEMORY_ALLOCATED)
        ew_left_allocated(start, size, events);
}

// --- lives of threads: told at any step, for nothing else says who the threads are

static void tell_region(uint64_t lo, uint64_t hi, uint64_t origin, uint32_t thread) {
    struct ew_thread_region row = {lo, hi, events, thread, origin};
    ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_REGIONS, &row);
}

void ew_trace_life(unsigned op, const struct ew_thread *other, const void *pc) {
    ew_trace_settle();
    if (op == EW_OP_START) {
        uint64_t end = (uintptr_t)other->stack + other->stack_size;
        tell_region((uintptr_t)other->stack, end, end, other->id);
        ew_locals_stack((uintptr_t)other->stack, end, false);
        ew_trace_tls(other->fs);
    }
    tell((struct ew_thread_event){.address = other->id, .size = 1, .op = (uint8_t)op}, pc);
    ew_self->woken_by = NONE;
}

// Told at any step too: it is known by its last name, whenever that came.
void ew_trace_name(const struct ew_thread *thread) {
    struct ew_thread_name row = {thread->id, (uint32_t)strlen(thread->life.name)};
    ew_trace_tailed(&ew_trace_names, EW_BLOCK_THREAD_NAMES, &row, thread->life.name, row.length);
}

// --- begin and end

// Of /proc/self/stat, as proc(5) numbers them.
enum { START_STACK = 28, START_HEAP = 47, START_ARGUMENTS = 48, END_ENVIRONMENT = 51 };

static uint64_t field(const char *text, int number) {
    const char *at = strrchr(text, ')'); // behind the name, which is the second
    for (number -= 2; at && number--;)
        at = strchr(at + 1, ' ');
    uint64_t value = 0;
    for (at += at != NULL; at && *at >= '0' && *at <= '9'; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    return value;
}

#define HEAP_ROOM (1ull << 40)

static void tell_first_regions(void) {
    char text[1024] = "";
    long descriptor = raw3(SYS_open, (long)"/proc/self/stat", O_RDONLY | O_CLOEXEC, 0);
    raw3(SYS_read, descriptor, (long)text, sizeof text - 1);
    raw1(SYS_close, descriptor);
    uint64_t stack = field(text, START_STACK), heap = field(text, START_HEAP);
    uint64_t arguments = field(text, START_ARGUMENTS), end = field(text, END_ENVIRONMENT);
    if (stack && stack < arguments && arguments < end) {
        tell_region(stack - ew_self->stack_size, arguments, stack, ew_self->id);
        ew_locals_stack(arguments - ew_self->stack_size, arguments, true);
        tell_region(arguments, end, arguments, NONE - 1);
    }
    if (heap)
        tell_region(heap, heap + HEAP_ROOM, heap, NONE);
}

static void tell_asked(void) {
    for (uint32_t i = 0; i < range_count; i++) {
        struct ew_thread_asked row = {.depth = asked.depth,
                                      .frames = asked.frames,
                                      .from = asked.from,
                                      .until = asked.until,
                                      .low = ranges[i].low,
                                      .high = ranges[i].high};
        ew_trace_row(&ew_trace_names, EW_BLOCK_THREAD_ASKED, &row);
    }
}

void ew_trace_start(const struct ew_trace_request *request) {
    asked = *request;
    ew_trace_files_begin(asked.directory, asked.passing);
    uint64_t program = ew_trace_modules();
    read_ranges(asked.relative ? program : 0);
    tell_asked();
    tell_first_regions();
    ew_sites_start(asked.frames);
    ew_trace_tls(ew_thread_pointer()); // known by having no caller
    ew_stream_flush(&ew_trace_names);  // an error stays, and is met at the next row
    ew_signals_keep(EW_FAULTS | BIT(SIGABRT));
    if (asked.left)
        ew_left_ask();
    at_quick_exit(ew_trace_finish);
    ew_watched = ew_tracing = true;
}

void ew_trace_stop(void) {
    if (!ew_tracing)
        return;
    ew_tracing = ew_trace_unsettled = false;
    ew_watched = ew_detecting;
    ew_accesses_hold();
    ew_signals_keep(0);
}

void ew_trace_finish(void) {
    if (!ew_tracing)
        return;
    ew_trace_settle();
    ew_left_tell();
    ew_trace_stop();
    ew_trace_files_finish();
}

// A program that goes on after an exec that failed is traced further.
bool ew_trace_pause(void) {
    bool tracing = ew_tracing;
    ew_trace_finish();
    return tracing;
}

void ew_trace_resume(bool paused) {
    if (!paused)
        return;
    ew_trace_files_resume();
    ew_left_again();
    ew_signals_keep(EW_FAULTS | BIT(SIGABRT));
    ew_watched = ew_tracing = true;
    ew_accesses_hold();
}
