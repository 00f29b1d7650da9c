// SPDX-License-Identifier: Apache-2.0
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

#include "tracer.h"

enum { FIRST_ROOM = 1024 };

struct numbered {
    uint64_t hash;
    uint32_t number;
    uint32_t length;
    unsigned char key[];
};

uint64_t hash_of(const void *data, size_t length) {
    const unsigned char *byte = data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

// Eight bytes at a time. What it gives is seen nowhere outside.
static uint64_t spread(const void *data, size_t length) {
    const unsigned char *byte = data;
    uint64_t hash = length, word;
    for (; length >= sizeof word; byte += sizeof word, length -= sizeof word) {
        memcpy(&word, byte, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, byte, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

static void *must(void *memory) {
    if (!memory)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    return memory;
}

// The slot that the key is in, or the empty one that it would be put in.
static struct numbered **slot_of(struct numbering *in, uint64_t hash, const void *key, size_t n) {
    for (uint32_t at = (uint32_t)hash;; at++) {
        struct numbered **slot = &in->slots[at & (in->room - 1)];
        const struct numbered *there = *slot;
        if (!there || (there->hash == hash && there->length == n && !memcmp(there->key, key, n)))
            return slot;
    }
}

static void grow(struct numbering *numbering) {
    struct numbering bigger = {numbering->count, numbering->room ? 2 * numbering->room : FIRST_ROOM,
                               NULL, NULL};
    bigger.slots = must(calloc(bigger.room, sizeof *bigger.slots));
    bigger.keys = must(realloc(numbering->keys, bigger.room * sizeof *bigger.keys));
    for (uint32_t i = 0; i < numbering->room; i++) {
        struct numbered *item = numbering->slots[i];
        if (item)
            *slot_of(&bigger, item->hash, item->key, item->length) = item;
    }
    free(numbering->slots);
    *numbering = bigger;
}

uint32_t numbering_of(struct numbering *numbering, const void *key, size_t length, bool *is_new) {
    if (2 * numbering->count >= numbering->room)
        grow(numbering);
    uint64_t hash = spread(key, length);
    struct numbered **slot = slot_of(numbering, hash, key, length);
    *is_new = !*slot;
    if (*is_new) {
        struct numbered *item = must(malloc(sizeof *item + length + 1));
        *item = (struct numbered){hash, ++numbering->count, (uint32_t)length};
        memcpy(item->key, key, length);
        item->key[length] = '\0';
        *slot = numbering->keys[item->number] = item;
    }
    return (*slot)->number;
}

const void *numbering_key(const struct numbering *numbering, uint32_t number) {
    return numbering->keys[number]->key;
}

size_t numbering_length(const struct numbering *numbering, uint32_t number) {
    return numbering->keys[number]->length;
}
