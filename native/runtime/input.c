// SPDX-License-Identifier: Apache-2.0
// Keeps what came from outside in memory that outlives the target, however it ends.
#include "input.h"
#include "circles.h"
#include "schedule.h"

#include <string.h>

bool ew_replaying;
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
    given = given_end = NULL;
    ew_replaying = false;
}

static size_t padded(size_t size) {
    return (size + 7) & ~(size_t)7;
}

static void note(enum ew_input_kind kind, const void *data, size_t size) {
    ew_circles_disturb();
    if (!head)
        return;
    struct ew_inputs_item item = {
        .kind = kind, .thread = ew_self ? ew_self->id : 0, .length = size};
    if (head->room - head->size < sizeof item + padded(size))
        ew_cannot("more came from outside than there is memory for");
    char *at = items + head->size;
    memcpy(at, &item, sizeof item);
    memcpy(at + sizeof item, data, size);
    memset(at + sizeof item + size, 0, padded(size) - size); // another run may have been there
    head->size += sizeof item + padded(size);
}

// What was noted next; it stays where it is.
static const char *take_item(enum ew_input_kind kind, size_t room, size_t *size) {
    struct ew_inputs_item item;
    if (given == given_end && ew_schedule_until)
        ew_schedule_over();
    if (given == given_end)
        ew_schedule_diverged("the replay diverged: it asks for more input than was recorded");
    memcpy(&item, given, sizeof item);
    if (item.kind != kind || item.thread != (ew_self ? ew_self->id : 0) || item.length > room)
        ew_schedule_diverged("the replay diverged: it asks for other input than was recorded");
    const char *data = given + sizeof item;
    given += sizeof item + padded(item.length);
    *size = item.length;
    return data;
}

static size_t take(enum ew_input_kind kind, void *data, size_t room) {
    size_t size;
    const char *noted = take_item(kind, room, &size);
    memcpy(data, noted, size);
    return size;
}

void ew_input_tell(enum ew_input_kind kind, const char *text, size_t size) {
    if (ew_replaying)
        text = take_item(kind, SIZE_MAX, &size);
    note(kind, text, size);
}

size_t ew_input(enum ew_input_kind kind, void *data, size_t size, size_t room) {
    size_t length = ew_replaying ? take(kind, data, room) : size;
    note(kind, data, length); // a replay is recorded like any run
    return length;
}

static bool is_next(enum ew_input_kind kind) {
    struct ew_inputs_item item = {0};
    if (given != given_end)
        memcpy(&item, given, sizeof item);
    return item.kind == kind && item.thread == ew_self->id;
}

bool ew_input_perhaps(enum ew_input_kind kind, bool came, void *data, size_t size) {
    if (ew_replaying)
        came = is_next(kind);
    if (came)
        ew_input(kind, data, size, size);
    return came;
}

long ew_input_call(long number, long a, long b, long c, long d, long e, long f) {
    long result = ew_replaying ? 0 : raw6(number, a, b, c, d, e, f);
    ew_input(EW_INPUT_RESULT, &result, sizeof result, sizeof result);
    return result;
}
