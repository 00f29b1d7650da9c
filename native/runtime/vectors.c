// SPDX-License-Identifier: Apache-2.0
#include "vectors.h"
#include "raw.h"

#include <string.h>

#define SMALLEST 4 // entries; rooms are powers of two from here on
#define AT_ONCE (1ul << 16)
static struct ew_vector *spare[32]; // by the logarithm of their room; `at` holds the next one

// So many at once: rooms are multiples of it. Segments are no larger than signed numbers.
typedef int32_t four __attribute__((vector_size(SMALLEST * 4), aligned(4), may_alias));

static four *four_at(struct ew_vector *vector, uint32_t index) {
    return (four *)&vector->at[index];
}

static unsigned class_of(uint32_t length) {
    return length <= SMALLEST ? 2 : 32 - (unsigned)__builtin_clz(length - 1);
}

static size_t bytes(uint32_t room) {
    return sizeof(struct ew_vector) + room * sizeof(uint32_t);
}

static void *cut(size_t size) {
    static char *fresh, *end;
    if (size > AT_ONCE / 4)
        return ew_pages(size);
    if ((size_t)(end - fresh) < size) {
        fresh = ew_pages(AT_ONCE);
        end = fresh + AT_ONCE;
    }
    void *memory = fresh;
    fresh += size;
    return memory;
}

// What lies behind the length, in the last four, is 0: it is taken with them.
static uint32_t whole(uint32_t length) {
    return (length + SMALLEST - 1) / SMALLEST * SMALLEST;
}

static void clear(struct ew_vector *vector, uint32_t from, uint32_t to) {
    memset(vector->at + from, 0, (to - from) * sizeof *vector->at);
}

static struct ew_vector *create(uint32_t length) {
    unsigned class = class_of(length);
    struct ew_vector *vector = spare[class];
    if (vector)
        memcpy(&spare[class], vector->at, sizeof vector);
    else
        vector = cut(bytes(1u << class));
    vector->room = 1u << class;
    vector->length = length;
    clear(vector, length, whole(length));
    return vector;
}

void ew_vector_give_back(struct ew_vector *old) {
    struct ew_vector **list = &spare[class_of(old->room)];
    memcpy(old->at, list, sizeof *list);
    *list = old;
}

void ew_vector_reach(struct ew_vector **vector, uint32_t length) {
    struct ew_vector *old = *vector;
    uint32_t had = old ? old->length : 0;
    if (had >= length)
        return;
    if (!old || old->room < length) {
        struct ew_vector *new = create(length);
        if (old)
            memcpy(new->at, old->at, had * sizeof *new->at);
        ew_vector_drop(vector);
        *vector = new;
    }
    (*vector)->length = length;
    clear(*vector, had, whole(length));
}

void ew_vector_copy(struct ew_vector **to, const struct ew_vector *from) {
    if (!from) {
        ew_vector_drop(to);
        return;
    }
    if (*to && (*to)->room < from->length)
        ew_vector_drop(to);
    if (!*to)
        *to = create(from->length);
    (*to)->length = from->length;
    for (uint32_t i = 0; i < from->length; i += SMALLEST)
        *four_at(*to, i) = *four_at((struct ew_vector *)from, i);
}

void ew_vector_join(struct ew_vector **to, const struct ew_vector *from) {
    if (!from)
        return;
    ew_vector_reach(to, from->length);
    for (uint32_t i = 0; i < from->length; i += SMALLEST) {
        four mine = *four_at(*to, i), theirs = *four_at((struct ew_vector *)from, i);
        four more = mine > theirs;
        *four_at(*to, i) = (mine & more) | (theirs & ~more);
    }
}
