/* SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

#include "crc32.h"
#include "syscalls.h"

void ew_reader_init(struct ew_reader *reader, int descriptor, void *buffer, size_t size) {
    *reader = (struct ew_reader){.descriptor = descriptor, .buffer = buffer, .size = size};
}

/* Up to `length` bytes; fewer only at the end of the file. */
static long read_at(const struct ew_reader *reader, void *data, size_t length, uint64_t offset) {
    size_t have = 0;
    while (have < length) {
        long done =
            ew_sys_pread(reader->descriptor, (uint8_t *)data + have, length - have, offset + have);
        if (done == -EINTR)
            continue;
        if (done < 0)
            return done;
        if (!done)
            break;
        have += (size_t)done;
    }
    return (long)have;
}

/* Whether the records with tails fill the payload exactly. */
static int tails_fit(const struct ew_block_view *block) {
    uint8_t head[EW_MAX_RECORD];
    const uint8_t *tail;
    uint32_t offset = 0, length, count = 0;
    int status;
    while ((status = ew_block_tailed(block, &offset, head, &tail, &length)) == EW_READ_BLOCK)
        count++;
    return status == EW_READ_END && count == block->records;
}

static int check_records(const struct ew_block_header *header, const uint8_t *payload) {
    struct ew_block_view block = {header->type, header->records, header->length, payload};
    uint32_t size = ew_record_size(header->type);
    if (!size || header->flags)
        return EW_READ_UNKNOWN;
    int fits = ew_record_has_tail(header->type) ? tails_fit(&block)
                                                : (uint64_t)size * block.records == block.length;
    return fits ? 0 : EW_READ_MALFORMED;
}

static int check_block(const struct ew_reader *reader, const struct ew_block_header *header) {
    uint32_t crc = ew_crc32(0, header, offsetof(struct ew_block_header, crc));
    if (ew_crc32(crc, reader->buffer, header->length) != header->crc)
        return EW_READ_DAMAGED;
    if (header->sequence != reader->blocks)
        return EW_READ_DAMAGED;
    return check_records(header, reader->buffer);
}

int ew_reader_next(struct ew_reader *reader, struct ew_block_view *block) {
    struct ew_block_header header;
    long got = read_at(reader, &header, sizeof header, reader->offset);
    if (got <= 0)
        return got ? (int)got : EW_READ_END;
    if ((size_t)got < sizeof header)
        return EW_READ_TRUNCATED;
    if (header.magic != EW_BLOCK_MAGIC || header.length > EW_MAX_PAYLOAD ||
        header.length > reader->size)
        return EW_READ_DAMAGED;
    got = read_at(reader, reader->buffer, header.length, reader->offset + sizeof header);
    if (got < 0)
        return (int)got;
    if ((size_t)got < header.length)
        return EW_READ_TRUNCATED;
    int error = check_block(reader, &header);
    if (error)
        return error;
    reader->offset += sizeof header + header.length;
    reader->blocks++;
    reader->crc = ew_crc32(reader->crc, &header.crc, sizeof header.crc);
    *block = (struct ew_block_view){header.type, header.records, header.length, reader->buffer};
    return EW_READ_BLOCK;
}

int ew_block_tailed(const struct ew_block_view *block, uint32_t *offset, void *head,
                    const uint8_t **tail, uint32_t *length) {
    uint32_t size = ew_record_size(block->type), left = block->length - *offset;
    if (!left)
        return EW_READ_END;
    if (left < size)
        return EW_READ_MALFORMED;
    __builtin_memcpy(head, block->payload + *offset, size);
    __builtin_memcpy(length, (uint8_t *)head + size - sizeof *length, sizeof *length);
    if (*length > left - size)
        return EW_READ_MALFORMED;
    *tail = block->payload + *offset + size;
    *offset += size + *length;
    return EW_READ_BLOCK;
}
