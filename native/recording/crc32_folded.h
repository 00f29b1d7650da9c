/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EITHERWAY_CRC32_FOLDED_H
#define EITHERWAY_CRC32_FOLDED_H

#include <stddef.h>
#include <stdint.h>

enum { EW_FOLD_LEAST = 64 };

int ew_crc32_can_fold(void);
/* Of all but the last `length % 16` bytes, of at least EW_FOLD_LEAST; without the inversions. */
uint32_t ew_crc32_folded(uint32_t crc, const uint8_t *bytes, size_t length);

#endif
