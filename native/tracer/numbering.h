// SPDX-License-Identifier: Apache-2.0
// Numbers for keys of bytes, from 1, in the order in which they come.
#ifndef EITHERWAY_NUMBERING_H
#define EITHERWAY_NUMBERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbered; // a key

struct numbering {
    uint32_t count;
    uint32_t room; // a power of two, or 0 before the first
    uint32_t last; // that was asked for: who asks often asks twice
    struct numbering_slot *slots;
    struct numbered **keys; // by number; as many as there are slots
};

// Keys are copied. Ends this process when there is no memory.
uint32_t numbering_of(struct numbering *numbering, const void *key, size_t length, bool *is_new);
uint32_t numbering_hash(const void *key, size_t length); // good within this process
uint32_t numbering_of_hash(struct numbering *numbering, uint32_t hash, const void *key,
                           size_t length, bool *is_new);
// The key of a number, with a NUL behind it; it stays where it is.
const void *numbering_key(const struct numbering *numbering, uint32_t number);
size_t numbering_length(const struct numbering *numbering, uint32_t number); // of that key
uint64_t hash_of(const void *data, size_t length);                           // FNV-1a
#define SPREAD 0x9e3779b1u // makes a small number a large one

#endif
