/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one stream of a recording, block by block. No allocation, errno is never touched. */
#ifndef EITHERWAY_READER_H
#define EITHERWAY_READER_H

#include "eitherway_format.h"

enum ew_read {
    EW_READ_END = 0,
    EW_READ_BLOCK = 1,
    EW_READ_TRUNCATED = -1001, /* the file ends inside a block */
    EW_READ_DAMAGED = -1002,   /* magic, checksum, length or sequence are wrong */
    EW_READ_UNKNOWN = -1003,   /* a block type or flag of a newer version */
    EW_READ_MALFORMED = -1004, /* the checksum is right and the records are not */
    /* greater than -1000: -errno of reading the file */
};

struct ew_reader {
    int descriptor;
    uint8_t *buffer;
    size_t size;     /* of the buffer */
    uint64_t offset; /* of the next block */
    uint32_t blocks; /* read */
    uint32_t crc;    /* of the blocks' crc fields */
};

/* A block of a stream; the payload lies in the reader's buffer until the next one is read. */
struct ew_block_view {
    uint32_t type;
    uint32_t records;
    uint32_t length;
    const uint8_t *payload;
};

/* `buffer` is the caller's; EW_MAX_PAYLOAD bytes are enough for every block. */
void ew_reader_init(struct ew_reader *reader, int descriptor, void *buffer, size_t size);

/* EW_READ_BLOCK and a block, EW_READ_END, or what is wrong; after that only the same again. */
int ew_reader_next(struct ew_reader *reader, struct ew_block_view *block);

/* The record with a tail at `*offset` of a block, which is moved behind it; returns EW_READ_BLOCK,
 * EW_READ_END behind the last one, or EW_READ_MALFORMED. `head` has room for its struct. */
int ew_block_tailed(const struct ew_block_view *block, uint32_t *offset, void *head,
                    const uint8_t **tail, uint32_t *length);

#endif
