// SPDX-License-Identifier: Apache-2.0
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

#include "tracer.h"

enum { FIRST_ROOM = 1024, CHUNK = 1 << 16 };

// Looking on from slot to slot touches no key that has another hash.
struct numbering_slot {
    uint32_t hash, number; // 0: empty
};

struct numbered {
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
uint32_t numbering_hash(const void *data, size_t length) {
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
    return (uint32_t)(hash ^ hash >> 32);
}

static void *must(void *memory) {
    if (!memory)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    return memory;
}

// Keys stay for good: they lie one behind the other.
static struct numbered *kept(const void *key, size_t length) {
    static unsigned char *chunk;
    static size_t left;
    size_t size = (sizeof(struct numbered) + length + 1 + 7) / 8 * 8;
    if (size > left) {
        left = size < CHUNK ? CHUNK : size;
        chunk = must(malloc(left));
    }
    struct numbered *item = (struct numbered *)(void *)chunk;
    chunk += size;
    left -= size;
    item->length = (uint32_t)length;
    memcpy(item->key, key, length);
    item->key[length] = '\0';
    return item;
}

static bool is_of(const struct numbered *item, const void *key, size_t length) {
    return item->length == length && !memcmp(item->key, key, length);
}

// The slot that the key is in, or the empty one that it would be put in.
static struct numbering_slot *slot_of(const struct numbering *in, uint32_t hash, const void *key,
                                      size_t length) {
    for (uint32_t at = hash;; at++) {
        struct numbering_slot *slot = &in->slots[at & (in->room - 1)];
        if (!slot->number || (slot->hash == hash && is_of(in->keys[slot->number], key, length)))
            return slot;
    }
}

static void put(struct numbering *in, struct numbering_slot slot) {
    uint32_t at = slot.hash;
    while (in->slots[at & (in->room - 1)].number)
        at++;
    in->slots[at & (in->room - 1)] = slot;
}

static void grow(struct numbering *numbering) {
    struct numbering bigger = *numbering;
    bigger.room = numbering->room ? 2 * numbering->room : FIRST_ROOM;
    bigger.slots = must(calloc(bigger.room, sizeof *bigger.slots));
    bigger.keys = must(realloc(numbering->keys, bigger.room * sizeof *bigger.keys));
    for (uint32_t i = 0; i < numbering->room; i++)
        if (numbering->slots[i].number)
            put(&bigger, numbering->slots[i]);
    free(numbering->slots);
    *numbering = bigger;
}

uint32_t numbering_of(struct numbering *numbering, const void *key, size_t length, bool *is_new) {
    *is_new = false;
    if (numbering->last && is_of(numbering->keys[numbering->last], key, length))
        return numbering->last;
    return numbering->last =
               numbering_of_hash(numbering, numbering_hash(key, length), key, length, is_new);
}

uint32_t numbering_of_hash(struct numbering *numbering, uint32_t hash, const void *key,
                           size_t length, bool *is_new) {
    if (2 * numbering->count >= numbering->room)
        grow(numbering);
    struct numbering_slot *slot = slot_of(numbering, hash, key, length);
    *is_new = !slot->number;
    if (*is_new) {
        *slot = (struct numbering_slot){hash, ++numbering->count};
        numbering->keys[slot->number] = kept(key, length);
    }
    return slot->number;
}

const void *numbering_key(const struct numbering *numbering, uint32_t number) {
    return numbering->keys[number]->key;
}

size_t numbering_length(const struct numbering *numbering, uint32_t number) {
    return numbering->keys[number]->length;
}
