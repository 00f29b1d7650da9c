// SPDX-License-Identifier: Apache-2.0
// The turns of a branch: which call comes next, and what it is to get from outside.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader.h"
#include "tracer.h"

struct datum {
    uint32_t turn, kind, length;
    uint8_t *bytes;
};

static struct ew_process_turn *turns;
static size_t length, at; // at: the next
static size_t anchors[ANCHORS_MAX], anchor_count;
static bool given_up;
static struct datum *data;
static size_t datum_count;

static void *grown(void *list, size_t count, size_t size) {
    void *longer = realloc(list, count * size);
    if (!longer)
        die(EXIT_UNAVAILABLE, "there is not enough memory for the plan");
    return longer;
}

static void add_turns(const struct ew_block_view *block) {
    turns = grown(turns, length + block->records, sizeof *turns);
    memcpy(turns + length, block->payload, block->length);
    length += block->records;
}

static void add_data(const struct ew_block_view *block) {
    struct ew_process_data head;
    const uint8_t *tail;
    uint32_t offset = 0, size;
    data = grown(data, datum_count + block->records, sizeof *data);
    while (ew_block_tailed(block, &offset, &head, &tail, &size) == EW_READ_BLOCK) {
        struct datum *last = datum_count ? &data[datum_count - 1] : NULL;
        if (!last || last->turn != head.call || last->kind != head.kind) {
            last = &data[datum_count++];
            *last = (struct datum){head.call, head.kind, 0, NULL};
        }
        last->bytes = grown(last->bytes, last->length + size + 1u, 1);
        memcpy(last->bytes + last->length, tail, size);
        last->length += size;
    }
}

static void find_anchors(void) {
    for (size_t i = 0; i < length; i++) {
        if (!(turns[i].flags & TURN_ANCHOR))
            continue;
        if (anchor_count == ANCHORS_MAX)
            die(EXIT_OUR_BUG, "the plan has too many anchors");
        anchors[anchor_count++] = i;
    }
}

void plan_read(int descriptor) {
    struct ew_reader reader;
    struct ew_block_view block;
    void *buffer = grown(NULL, EW_MAX_PAYLOAD, 1);
    int status;
    ew_reader_init(&reader, descriptor, buffer, EW_MAX_PAYLOAD);
    while ((status = ew_reader_next(&reader, &block)) == EW_READ_BLOCK) {
        if (block.type == EW_BLOCK_PROCESS_TURNS)
            add_turns(&block);
        else if (block.type == EW_BLOCK_PROCESS_DATA)
            add_data(&block);
    }
    if (status != EW_READ_END)
        die(EXIT_OUR_BUG, "the plan is damaged (%d)", status);
    find_anchors();
    free(buffer);
    close(descriptor);
}

const struct ew_process_turn *plan_next(void) {
    return at < length && !given_up ? &turns[at] : NULL;
}

size_t plan_done(void) {
    return at;
}

size_t plan_length(void) {
    return length;
}

void plan_step(void) {
    at++;
}

void plan_give_up(void) {
    given_up = true;
}

size_t plan_anchors(void) {
    return anchor_count;
}

size_t plan_anchors_done(void) {
    size_t done = 0;
    while (done < anchor_count && anchors[done] < at)
        done++;
    return done;
}

const struct ew_process_turn *plan_anchor(size_t which) {
    return &turns[anchors[which]];
}

// Data of a turn stand together, in the order of turns.
const void *plan_data(const struct ew_process_turn *turn, enum data_kind kind, size_t *length_of) {
    uint32_t number = (uint32_t)(turn - turns);
    size_t low = 0, high = datum_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (data[middle].turn < number)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < datum_count && data[low].turn == number; low++)
        if (data[low].kind == kind) {
            *length_of = data[low].length;
            return data[low].bytes;
        }
    return NULL;
}
