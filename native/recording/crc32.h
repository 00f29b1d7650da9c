/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of blocks. */
#ifndef EITHERWAY_CRC32_H
#define EITHERWAY_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32 of what gave `crc` followed by `data`; start with 0. As zlib's crc32(). */
uint32_t ew_crc32(uint32_t crc, const void *data, size_t length);

#endif
