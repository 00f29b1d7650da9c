/* SPDX-License-Identifier: Apache-2.0 */
#include "crc32.h"

#include "crc32_folded.h"
#include "crc32_table.h"

static uint32_t load32(const uint8_t *bytes) {
    uint32_t word;
    __builtin_memcpy(&word, bytes, sizeof word);
    return word;
}

/* Eight bytes at a time: more than five times as fast as one by one. */
uint32_t ew_crc32(uint32_t crc, const void *data, size_t length) {
    const uint8_t *bytes = data;
    crc = ~crc;
    if (length >= EW_FOLD_LEAST && ew_crc32_can_fold()) {
        crc = ew_crc32_folded(crc, bytes, length);
        bytes += length & ~(size_t)15;
        length &= 15;
    }
    for (; length >= 8; bytes += 8, length -= 8) {
        uint32_t low = load32(bytes) ^ crc, high = load32(bytes + 4);
        crc = ew_crc_table[7][low & 0xff] ^ ew_crc_table[6][low >> 8 & 0xff] ^
              ew_crc_table[5][low >> 16 & 0xff] ^ ew_crc_table[4][low >> 24] ^
              ew_crc_table[3][high & 0xff] ^ ew_crc_table[2][high >> 8 & 0xff] ^
              ew_crc_table[1][high >> 16 & 0xff] ^ ew_crc_table[0][high >> 24];
    }
    for (; length; bytes++, length--)
        crc = ew_crc_table[0][(crc ^ *bytes) & 0xff] ^ crc >> 8;
    return ~crc;
}
