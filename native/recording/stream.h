/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one stream of a recording: blocks of records, see eitherway_format.h.
 *
 * For use inside a target: no allocation, no lock, no libc function but memcpy and its kin, errno
 * is never touched. A stream belongs to one thread at a time; who shares it brings the lock. The
 * first error stays: every later call returns it and writes nothing, so that a block that was
 * written in part is the last one. All functions return 0 or -errno. */
#ifndef EITHERWAY_STREAM_H
#define EITHERWAY_STREAM_H

#include "eitherway_format.h"

/* Writes all or part of `data`; returns how much, or -errno. */
typedef long (*ew_write_fn)(void *context, const void *data, size_t length);

/* For files: the context is the descriptor, cast to a pointer through intptr_t. */
long ew_write_to_fd(void *descriptor, const void *data, size_t length);

struct ew_stream {
    ew_write_fn write;
    void *context;
    uint8_t *buffer;   /* the block under way, its header first */
    uint32_t capacity; /* bytes of payload */
    uint32_t used;     /* bytes of payload */
    uint32_t records;  /* in the block under way */
    uint32_t type;     /* of the block under way */
    uint32_t blocks;   /* written */
    uint32_t crc;      /* of the written blocks' crc fields */
    uint64_t size;     /* bytes written */
    uint64_t holds;    /* bit n: a block of type n was written */
    int error;
};

/* `buffer` is the caller's for as long as the stream lives; a block's payload has at most
 * `size - sizeof(struct ew_block_header)` bytes. -EINVAL when no record fits. */
int ew_stream_init(struct ew_stream *stream, ew_write_fn write, void *context, void *buffer,
                   size_t size);

/* Appends records of a type without tails; -EINVAL, which does not stay, for another type. */
int ew_stream_rows(struct ew_stream *stream, uint32_t type, const void *rows, size_t count);

/* Appends one record of a type with tails; the last field of its head is `length` too, or -EINVAL.
 * -EMSGSIZE when it does not fit in a block. Neither stays. */
int ew_stream_tailed(struct ew_stream *stream, uint32_t type, const void *head, const void *tail,
                     size_t length);

/* The same for two types. */
int ew_stream_string(struct ew_stream *stream, const char *text, size_t length);
int ew_stream_metadata(struct ew_stream *stream, uint32_t key, const void *value, size_t length);

/* Appends what came from outside, in as many records as it needs. */
int ew_stream_input(struct ew_stream *stream, uint32_t kind, uint32_t actor, const void *data,
                    size_t length);

/* Ends the block under way, so that it outlives a kill. */
int ew_stream_flush(struct ew_stream *stream);

#endif
