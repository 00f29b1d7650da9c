// SPDX-License-Identifier: Apache-2.0
// The two ways in which words become numbers that look random.
#ifndef EITHERWAY_HASHES_H
#define EITHERWAY_HASHES_H

#include <stddef.h>
#include <stdint.h>

// FNV-1a. A word at a time is another hash than that of its bytes.
#define EW_HASH_OF_NOTHING 0xCBF29CE484222325u

static inline uint64_t ew_hash_word(uint64_t hash, uint64_t word) {
    return (hash ^ word) * 0x100000001B3u;
}

static inline uint64_t ew_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = ew_hash_word(hash, ((const uint8_t *)bytes)[i]);
    return hash;
}

// splitmix64: a step, and what makes a number of where it led.
#define EW_SPLITMIX 0x9E3779B97F4A7C15u

static inline uint64_t ew_splitmix(uint64_t word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
    return word ^ (word >> 31);
}

#endif
