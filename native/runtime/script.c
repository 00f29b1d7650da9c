// SPDX-License-Identifier: Apache-2.0
#include "script.h"
#include "asks.h"
#include "descriptors.h"
#include "file_numbers.h"
#include "guide.h"
#include "polling.h"

#include <errno.h>
#include <string.h>

#define NONE UINT32_MAX

// What is left of the recording, in its order.
static struct entry {
    const struct ew_inputs_item *item;
    uint32_t after; // the next one of the same thread, or NONE
} *entries;

// What a thread has still to get. The last line is of signals.
static struct line {
    uint32_t next;  // NONE: nothing
    uint32_t heard; // the first of those that the outside hears of
} *lines;
static uint32_t line_count;

bool ew_scripted;

_Noreturn void ew_script_over(void) {
    ew_guide_beyond();
}

// --- items

static uint32_t kind_of(const struct ew_inputs_item *item) {
    return item->kind & EW_INPUT_KIND;
}

static bool is_heard(const struct ew_inputs_item *item) {
    return item->kind >> EW_INPUT_ASK & EW_ASK_HEARD;
}

// Whether it is the answer that nothing has come, which can be true at any time.
static bool is_nothing(const struct ew_inputs_item *item) {
    uint32_t ask = item->kind >> EW_INPUT_ASK;
    long result = 0;
    if (!(ask & EW_ASK_TAKES))
        return false;
    memcpy(&result, item + 1, sizeof result);
    if (ask & EW_ASK_LOOKS)
        return result == 0;
    return result == -EAGAIN || result == -ENOMSG || result == -ETIMEDOUT;
}

static bool takes(const struct ew_inputs_item *item) {
    return item->kind >> EW_INPUT_ASK & EW_ASK_TAKES && !is_nothing(item);
}

static const struct ew_input_wait *wait_of(const struct ew_inputs_item *item) {
    return (const struct ew_input_wait *)(item + 1);
}

// It can be asked itself.
static bool is_of_file(const struct ew_inputs_item *item) {
    return item->kind >> EW_INPUT_ASK & EW_ASK_FILE;
}

static bool lets_go(const struct ew_inputs_item *item) {
    return kind_of(item) == EW_INPUT_WAITED && wait_of(item)->how == EW_WAIT_LET_GO;
}

// What threads get or do by the way, and not by what they ask: a run may do without.
static bool may_be_missed(const struct ew_inputs_item *item) {
    uint32_t kind = kind_of(item);
    return kind == EW_INPUT_PASSED || kind == EW_INPUT_TURN || kind == EW_INPUT_WENT_ON ||
           is_of_file(item) || is_heard(item) || is_nothing(item) ||
           (kind == EW_INPUT_WAITED && !lets_go(item));
}

static const struct ew_inputs_item *behind(const struct ew_inputs_item *item) {
    return (const struct ew_inputs_item *)((const char *)(item + 1) + ((item->length + 7) & ~7ul));
}

// --- lines

static uint32_t line_number(uint32_t thread) {
    return thread == EW_INPUT_NOBODY ? line_count - 1 : thread;
}

static void count_items(const struct ew_inputs_item *item, const void *end, uint32_t *items,
                        uint32_t *threads) {
    for (; (const void *)item < end; item = behind(item)) {
        ++*items;
        if (item->thread != EW_INPUT_NOBODY && item->thread >= *threads)
            *threads = item->thread + 1;
    }
}

void ew_script_begin(const char *items, const char *end) {
    const struct ew_inputs_item *item = (const struct ew_inputs_item *)items;
    uint32_t count = 0, threads = 0;
    count_items(item, end, &count, &threads);
    line_count = threads + 1;
    entries = ew_pages((count + 1) * sizeof *entries);
    lines = ew_pages(line_count * sizeof *lines);
    uint32_t *last = ew_pages(line_count * sizeof *last); // one more than its index; 0: none
    for (uint32_t i = 0; i < line_count; i++)
        lines[i] = (struct line){NONE, NONE};
    for (uint32_t i = 0; i < count; i++, item = behind(item)) {
        uint32_t number = line_number(item->thread);
        struct line *line = &lines[number];
        entries[i] = (struct entry){item, NONE};
        *(last[number] ? &entries[last[number] - 1].after : &line->next) = i;
        last[number] = i + 1;
        if (line->heard == NONE && is_heard(item))
            line->heard = i;
    }
    ew_scripted = true;
}

static struct line *line_of(uint32_t thread) {
    return thread + 1 < line_count ? &lines[thread] : NULL;
}

// But for what files told.
static uint32_t next_of(const struct line *line) {
    uint32_t next = line->next;
    while (next != NONE && is_of_file(entries[next].item))
        next = entries[next].after;
    return next;
}

static const struct ew_inputs_item *first_of(const struct line *line) {
    uint32_t next = line ? next_of(line) : NONE;
    return next != NONE ? entries[next].item : NULL;
}

// What the thread does itself may be next too.
static uint32_t next_that_counts(const struct line *line) {
    uint32_t next = line->next;
    while (next != NONE && may_be_missed(entries[next].item) && !is_heard(entries[next].item))
        next = entries[next].after;
    return next;
}

static const struct ew_inputs_item *take_first(struct line *line) {
    uint32_t taken = next_of(line);
    const struct ew_inputs_item *item = entries[taken].item;
    line->next = entries[taken].after;
    if (line->heard == taken)
        do
            line->heard = entries[line->heard].after;
        while (line->heard != NONE && !is_heard(entries[line->heard].item));
    return item;
}

// --- what may be known already

static bool is_gone(uint32_t thread) {
    const struct ew_thread *known = ew_thread_with(thread);
    return known ? known->state == EW_ENDED : ew_thread_was(thread);
}

// Whether others have told the outside all that they had told it before.
static bool is_due(uint32_t entry, uint32_t thread) {
    for (uint32_t i = 0; i + 1 < line_count; i++)
        if (i != thread && lines[i].heard < entry && !is_gone(i))
            return false;
    return true;
}

static bool asks_outside(const struct ew_thread *thread) {
    const struct ew_asked *asked = &thread->life.asked;
    return asked->is && (asked->descriptor < 0 || ew_is_outside(asked->descriptor));
}

static bool is_true(const struct ew_inputs_item *ready) {
    const struct epoll_event *events = (const struct epoll_event *)(ready + 1);
    if (ready->length == sizeof(struct pollfd))
        return ew_poll_is_true((const struct pollfd *)(ready + 1));
    for (size_t i = 0; i < ready->length / sizeof *events; i++)
        if (!ew_epoll_is_true(&events[i]))
            return false;
    return true;
}

// Descriptors within may be looked at together with those that lead outside. What is told of them
// has to be so: other threads see to that.
static bool is_true_within(uint32_t entry) {
    for (entry = entries[entry].after; entry != NONE; entry = entries[entry].after) {
        if (kind_of(entries[entry].item) != EW_INPUT_READY)
            break;
        if (!is_true(entries[entry].item))
            return false;
    }
    return true;
}

static bool may_come(uint32_t entry, uint32_t thread) {
    return is_due(entry, thread) && is_true_within(entry);
}

bool ew_script_holds(const struct ew_thread *thread) {
    const struct line *line = line_of(thread->id);
    if (!line || !asks_outside(thread))
        return false;
    uint32_t next = next_that_counts(line);
    return next != NONE && takes(entries[next].item) && !may_come(next, thread->id);
}

// --- answers

static bool answers(const struct ew_inputs_item *item, uint32_t kind) {
    return item && item->kind == kind;
}

static void pass_missed(struct line *line, uint32_t kind) {
    while (first_of(line) && !answers(first_of(line), kind) && may_be_missed(first_of(line)))
        take_first(line);
}

const struct ew_inputs_item *ew_script_take(uint32_t kind) {
    struct line *line = line_of(ew_self->id);
    pass_missed(line, kind);
    const struct ew_inputs_item *item = first_of(line);
    if (!answers(item, kind) || (takes(item) && !may_come(next_of(line), ew_self->id)))
        ew_script_over();
    return take_first(line);
}

// Who looks before it is let go sees nothing yet.
bool ew_script_sees_nothing(uint32_t kind) {
    struct line *line = line_of(ew_self->id);
    if (!(kind >> EW_INPUT_ASK & EW_ASK_LOOKS) || !line || answers(first_of(line), kind))
        return false;
    uint32_t next = next_that_counts(line);
    return next != NONE && lets_go(entries[next].item);
}

bool ew_script_is_next(uint32_t kind) {
    return answers(first_of(line_of(ew_self->id)), kind);
}

bool ew_script_goes_on(void) {
    struct line *line = line_of(ew_self->id);
    uint32_t next = line ? line->next : NONE;
    while (next != NONE && kind_of(entries[next].item) != EW_INPUT_WENT_ON &&
           may_be_missed(entries[next].item))
        next = entries[next].after;
    if (next == NONE || kind_of(entries[next].item) != EW_INPUT_WENT_ON)
        return false;
    while (line->next != next)
        take_first(line);
    return true;
}

static bool looks_the_same(const void *told, const void *data, size_t size) {
    if (size == sizeof(struct stat)) {
        const struct stat *old = told, *now = data;
        return old->st_mode == now->st_mode && old->st_size == now->st_size;
    }
    const struct statx *old = told, *now = data;
    return old->stx_mode == now->stx_mode && old->stx_size == now->stx_size;
}

static bool is_the_same(const struct ew_inputs_item *item, const void *data, size_t size) {
    if (item->length != size)
        return false;
    if (ew_is_status(size))
        return looks_the_same(item + 1, data, size) && ew_file_may_be(data, item + 1, size);
    return memcmp(item + 1, data, size) == 0;
}

static bool answered(const struct entry *entry, uint32_t kind, long result) {
    long told;
    memcpy(&told, entry->item + 1, sizeof told);
    return entry->item->kind == kind && told == result;
}

const void *ew_script_of_file(uint32_t kind, long result, const void *data, size_t size) {
    struct line *line = line_of(ew_self->id);
    for (uint32_t i = line ? line->next : NONE;
         i != NONE && may_be_missed(entries[i].item) && !is_heard(entries[i].item);
         i = entries[i].after) {
        uint32_t next = entries[i].after;
        if (!size || next == NONE || !answered(&entries[i], kind, result) ||
            !is_the_same(entries[next].item, data, size))
            continue;
        line->next = entries[next].after;
        return entries[next].item + 1;
    }
    return NULL;
}

long ew_script_sent(uint32_t kind, long bytes) {
    long result;
    if (!ew_script_is_next(kind))
        return bytes;
    memcpy(&result, take_first(line_of(ew_self->id)) + 1, sizeof result);
    return result < bytes ? result : bytes;
}

// --- waiting

// A thread that is let go has passed what it got then while it looked; else its wait ended as it
// did then, or what it waits for is still to come.
void ew_script_waited(uint32_t thread, const struct ew_input_wait *wait) {
    struct line *line = line_of(thread);
    while (wait->how == EW_WAIT_LET_GO && first_of(line) && !lets_go(first_of(line)))
        take_first(line);
    const struct ew_inputs_item *item = first_of(line);
    if (item && kind_of(item) == EW_INPUT_WAITED && wait_of(item)->how == wait->how)
        take_first(line);
}

// What lets go a thread that waits, or NONE.
static uint32_t releasing(uint32_t thread) {
    const struct ew_thread *known = ew_thread_with(thread);
    uint32_t next = known && ew_waits_outside(known) ? next_that_counts(&lines[thread]) : NONE;
    return next != NONE && lets_go(entries[next].item) ? next : NONE;
}

// Of what the outside does next to each thread, and of signals, what comes first in the recording;
// `stalled`: some of it is to come only when others have told more.
static uint32_t next_act(struct ew_script_act *act, bool *stalled) {
    uint32_t best = NONE;
    for (uint32_t i = 0; i < line_count; i++) {
        bool signals = i == line_count - 1;
        uint32_t entry = signals ? lines[i].next : releasing(i);
        if (entry == NONE)
            continue;
        bool due = is_due(entry, signals ? EW_INPUT_NOBODY : i);
        *stalled |= !due;
        if (!due || entry > best)
            continue;
        best = entry;
        const void *data = entries[entry].item + 1;
        *act = signals
                   ? (struct ew_script_act){((const struct ew_input_signal *)data)->when, NULL}
                   : (struct ew_script_act){wait_of(entries[entry].item)->when, ew_thread_with(i)};
    }
    return best;
}

bool ew_script_next_act(struct ew_script_act *act) {
    bool stalled = false;
    return next_act(act, &stalled) != NONE;
}

void ew_script_take_signal(struct ew_input_signal *signal) {
    memcpy(signal, take_first(&lines[line_count - 1]) + 1, sizeof *signal);
}

static bool is_left(void) {
    for (uint32_t i = 0; i < line_count; i++)
        for (uint32_t entry = lines[i].next; entry != NONE; entry = entries[entry].after)
            if (!may_be_missed(entries[entry].item))
                return true;
    return false;
}

bool ew_script_may_go_on(void) {
    return !ew_only_signals_waited_for() || is_left();
}

bool ew_script_is_stalled(void) {
    struct ew_script_act act;
    bool stalled = false;
    next_act(&act, &stalled);
    for (uint32_t i = 0; i < ew_ready_count; i++)
        stalled |= ew_script_holds(ew_ready[i]);
    return stalled;
}
