// SPDX-License-Identifier: Apache-2.0
// Keeps what came from outside in memory that outlives the target, however it ends.
#include "input.h"
#include "asks.h"
#include "circles.h"
#include "file_numbers.h"
#include "file_times.h"
#include "polling.h"
#include "schedule.h"
#include "script.h"

#include <string.h>

bool ew_replaying, ew_talks;
static struct ew_inputs_head *head; // NULL: this run is not recorded
static char *items;
static const char *given, *given_end;

void ew_input_record(struct ew_inputs_head *memory, char *into) {
    head = memory;
    items = into;
}

void ew_input_replay(const struct ew_inputs_head *old, const char *from) {
    given = from;
    given_end = given + old->size;
    ew_replaying = true;
}

void ew_input_leave(void) {
    ew_script_begin(given, given_end);
}

static size_t padded(size_t size) {
    return (size + 7) & ~(size_t)7;
}

static uint32_t asker(void) {
    return ew_self ? ew_self->id : 0;
}

static void note_for(uint32_t thread, uint32_t kind, const void *data, size_t size) {
    ew_circles_disturb();
    if (!head)
        return;
    struct ew_inputs_item item = {.kind = kind, .thread = thread, .length = size};
    if (head->room - head->size < sizeof item + padded(size))
        ew_cannot("more came from outside than there is memory for");
    char *at = items + head->size;
    memcpy(at, &item, sizeof item);
    memcpy(at + sizeof item, data, size);
    memset(at + sizeof item + size, 0, padded(size) - size); // another run may have been there
    head->size += sizeof item + padded(size);
}

static void note(uint32_t kind, const void *data, size_t size) {
    note_for(asker(), kind, data, size);
}

// What was noted next; it stays where it is.
static const struct ew_inputs_item *take_next(uint32_t thread, uint32_t kind) {
    if (given == given_end && ew_schedule_until)
        ew_schedule_over();
    if (given == given_end)
        ew_schedule_diverged("the replay diverged: it asks for more input than was recorded");
    const struct ew_inputs_item *item = (const struct ew_inputs_item *)given;
    if ((item->kind ^ kind) & EW_INPUT_KIND || item->thread != thread)
        ew_schedule_diverged("the replay diverged: it asks for other input than was recorded");
    given += sizeof *item + padded(item->length);
    return item;
}

static const struct ew_inputs_item *take_item(uint32_t kind, size_t room) {
    const struct ew_inputs_item *item =
        ew_scripted ? ew_script_take(kind) : take_next(asker(), kind);
    if (item->length <= room)
        return item;
    if (ew_scripted)
        ew_script_over();
    ew_schedule_diverged("the replay diverged: it has less room for input than was recorded");
}

// A replay is recorded like any run.
static size_t take(uint32_t kind, void *data, size_t room) {
    const struct ew_inputs_item *item = take_item(kind, room);
    memcpy(data, item + 1, item->length);
    note(item->kind, data, item->length);
    return item->length;
}

// What comes of itself: when, a replay knows from its schedule.
static void come(uint32_t thread, uint32_t kind, void *data, size_t size) {
    if (ew_replaying && !ew_scripted)
        memcpy(data, take_next(thread, kind) + 1, size);
    note_for(thread, kind, data, size);
}

void ew_input_wait(uint32_t thread, struct ew_input_wait *wait) {
    if (ew_scripted)
        ew_script_waited(thread, wait);
    come(thread, EW_INPUT_WAITED, wait, sizeof *wait);
}

void ew_input_signal(struct ew_input_signal *signal) {
    come(EW_INPUT_NOBODY, EW_INPUT_SIGNAL, signal, sizeof *signal);
}

void ew_input_turn(long *turn) {
    come(asker(), EW_INPUT_TURN, turn, sizeof *turn);
}

void ew_input_tell(enum ew_input_kind kind, const char *text, size_t size) {
    const struct ew_inputs_item *item = ew_replaying ? take_item(kind, SIZE_MAX) : NULL;
    note(kind, item ? (const char *)(item + 1) : text, item ? item->length : size);
}

static size_t get(uint32_t kind, void *data, size_t size, size_t room) {
    if (ew_replaying)
        return take(kind, data, room);
    note(kind, data, size);
    return size;
}

size_t ew_input(enum ew_input_kind kind, void *data, size_t size, size_t room) {
    return get(kind, data, size, room);
}

static bool is_next(uint32_t kind) {
    const struct ew_inputs_item *item = (const struct ew_inputs_item *)given;
    if (ew_scripted)
        return ew_script_is_next(kind);
    return given != given_end && (item->kind & EW_INPUT_KIND) == kind &&
           item->thread == ew_self->id;
}

bool ew_input_perhaps(enum ew_input_kind kind, bool came, void *data, size_t size) {
    if (ew_replaying)
        came = is_next(kind);
    if (came)
        ew_input(kind, data, size, size);
    return came;
}

bool ew_input_went_on(void) {
    char nothing = 0;
    if (ew_scripted && !ew_script_goes_on())
        return false;
    return ew_input_perhaps(EW_INPUT_WENT_ON, true, &nothing, sizeof nothing);
}

// In a run that has left its recording, what needs no answer from it.
static bool answer_oneself(uint32_t kind, long number, long b, long c, long *result) {
    long sends = ew_ask_sends(number, b, c);
    bool nothing = sends < 0 && ew_script_sees_nothing(kind);
    if (sends < 0 && !nothing)
        return false;
    *result = nothing ? 0 : ew_script_sent(kind, sends);
    note(kind, result, sizeof *result);
    return true;
}

long ew_input_call_on(const struct stat *known, long number, long a, long b, long c, long d, long e,
                      long f) {
    uint32_t kind = EW_INPUT_RESULT | ew_ask(number, a, b, known) << EW_INPUT_ASK;
    long result = 0;
    if (ew_scripted && answer_oneself(kind, number, b, c, &result))
        return result;
    if (!ew_replaying)
        result = number == SYS_poll ? ew_poll_now((struct pollfd *)a, (nfds_t)b)
                                    : raw6(number, a, b, c, d, e, f);
    get(kind, &result, sizeof result, sizeof result);
    return result;
}

long ew_input_call(long number, long a, long b, long c, long d, long e, long f) {
    return ew_input_call_on(NULL, number, a, b, c, d, e, f);
}

bool ew_files_are_asked(void) {
    return !ew_replaying || ew_scripted;
}

static size_t length_of(const struct ew_file_told *told) {
    if (told->result < 0)
        return 0;
    return told->size ? told->size : (size_t)told->result;
}

#define OF_FILE (EW_ASK_FILE << EW_INPUT_ASK)

// What is told of a file: its number and times as the recorded run would have been told them.
static void note_status(const void *old, void *status, size_t size) {
    if (old && ew_file_times_may_be(status, old, size)) {
        ew_file_was_told(status, old, size);
        ew_file_times_were_told(status, old, size);
        memcpy(status, old, size);
        return;
    }
    if (old)
        ew_file_was_told(status, old, size);
    ew_file_renumber(status, size);
    ew_file_times_put(status, size);
}

// The file itself has answered.
static void note_file(uint32_t kind, const struct ew_file_told *told) {
    size_t length = length_of(told);
    const void *old = ew_script_of_file(kind, told->result, told->data, length);
    if (ew_is_status(length))
        note_status(old, told->data, length);
    else if (old)
        memcpy(told->data, old, length);
    note(kind, &told->result, sizeof told->result);
    if (length)
        note(EW_INPUT_DATA | OF_FILE, told->data, length);
}

long ew_input_of_file(struct ew_file_told *told) {
    uint32_t kind = EW_INPUT_RESULT | told->ask << EW_INPUT_ASK;
    uint32_t of_file = told->is_file ? OF_FILE : 0;
    if (ew_scripted && told->is_file && !ew_script_is_next(kind)) {
        note_file(kind | of_file, told);
        return told->result;
    }
    get(kind | of_file, &told->result, sizeof told->result, sizeof told->result);
    if (length_of(told))
        get(EW_INPUT_DATA | of_file, told->data, length_of(told), told->room);
    return told->result;
}

void ew_input_heard(long number, int descriptor) {
    uint32_t kind = EW_INPUT_RESULT | ew_ask(number, descriptor, 0, NULL) << EW_INPUT_ASK;
    long nothing = 0;
    if (!ew_talks)
        return;
    if (ew_scripted) {
        ew_script_sent(kind, 0);
        note(kind, &nothing, sizeof nothing);
    } else {
        get(kind, &nothing, sizeof nothing, sizeof nothing);
    }
}
