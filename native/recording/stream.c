/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "crc32.h"
#include "syscalls.h"

_Static_assert(EW_BLOCK_LAST < 64, "holds has a bit per block type");

static const uint32_t header_size = sizeof(struct ew_block_header);

long ew_write_to_fd(void *descriptor, const void *data, size_t length) {
    return ew_sys_write((int)(intptr_t)descriptor, data, length);
}

int ew_stream_init(struct ew_stream *stream, ew_write_fn write, void *context, void *buffer,
                   size_t size) {
    if (size < header_size + EW_MAX_RECORD)
        return -EINVAL;
    size_t capacity = size - header_size;
    *stream = (struct ew_stream){
        .write = write,
        .context = context,
        .buffer = buffer,
        .capacity = capacity < EW_MAX_PAYLOAD ? (uint32_t)capacity : EW_MAX_PAYLOAD,
    };
    return 0;
}

static int write_all(struct ew_stream *stream, const uint8_t *data, size_t length) {
    while (length) {
        long done = stream->write(stream->context, data, length);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            return done ? (int)done : -EIO;
        data += done;
        length -= (size_t)done;
    }
    return 0;
}

int ew_stream_flush(struct ew_stream *stream) {
    if (stream->error || !stream->records)
        return stream->error;
    struct ew_block_header header = {
        .magic = EW_BLOCK_MAGIC,
        .type = (uint16_t)stream->type,
        .sequence = stream->blocks,
        .records = stream->records,
        .length = stream->used,
    };
    uint32_t crc = ew_crc32(0, &header, offsetof(struct ew_block_header, crc));
    header.crc = ew_crc32(crc, stream->buffer + header_size, stream->used);
    __builtin_memcpy(stream->buffer, &header, header_size);
    stream->error = write_all(stream, stream->buffer, header_size + stream->used);
    if (stream->error)
        return stream->error;
    stream->crc = ew_crc32(stream->crc, &header.crc, sizeof header.crc);
    stream->size += header_size + stream->used;
    stream->holds |= UINT64_C(1) << stream->type;
    stream->blocks++;
    stream->used = stream->records = 0;
    return 0;
}

/* Makes the block under way one of this type. */
static int switch_to(struct ew_stream *stream, uint32_t type) {
    if (stream->type != type && ew_stream_flush(stream) == 0)
        stream->type = type;
    return stream->error;
}

static void put(struct ew_stream *stream, const void *data, size_t length) {
    if (length)
        __builtin_memcpy(stream->buffer + header_size + stream->used, data, length);
    stream->used += (uint32_t)length;
}

int ew_stream_rows(struct ew_stream *stream, uint32_t type, const void *rows, size_t count) {
    uint32_t size = ew_record_size(type);
    const uint8_t *row = rows;
    if (!size || ew_record_has_tail(type))
        return -EINVAL;
    if (!count || switch_to(stream, type))
        return stream->error;
    if (count <= EW_MAX_PAYLOAD && count * size <= stream->capacity - stream->used) {
        put(stream, row, count * size);
        stream->records += (uint32_t)count;
        return 0;
    }
    while (count) {
        size_t room = (stream->capacity - stream->used) / size;
        size_t part = room < count ? room : count;
        if (!part) {
            if (ew_stream_flush(stream))
                return stream->error;
            continue;
        }
        put(stream, row, part * size);
        stream->records += (uint32_t)part;
        row += part * size;
        count -= part;
    }
    return 0;
}

int ew_stream_tailed(struct ew_stream *stream, uint32_t type, const void *head, const void *tail,
                     size_t length) {
    uint32_t size = ew_record_size(type), said;
    if (!ew_record_has_tail(type))
        return -EINVAL;
    if (length > stream->capacity - size)
        return -EMSGSIZE;
    __builtin_memcpy(&said, (const uint8_t *)head + size - sizeof said, sizeof said);
    if (said != length)
        return -EINVAL;
    if (switch_to(stream, type))
        return stream->error;
    if (stream->capacity - stream->used < size + length && ew_stream_flush(stream))
        return stream->error;
    put(stream, head, size);
    put(stream, tail, length);
    stream->records++;
    return 0;
}

int ew_stream_string(struct ew_stream *stream, const char *text, size_t length) {
    struct ew_string head = {.length = (uint32_t)length};
    return ew_stream_tailed(stream, EW_BLOCK_STRINGS, &head, text, length);
}

int ew_stream_metadata(struct ew_stream *stream, uint32_t key, const void *value, size_t length) {
    struct ew_metadata head = {.key = key, .length = (uint32_t)length};
    return ew_stream_tailed(stream, EW_BLOCK_METADATA, &head, value, length);
}

int ew_stream_input(struct ew_stream *stream, uint32_t kind, uint32_t actor, const void *data,
                    size_t length) {
    size_t room = stream->capacity - sizeof(struct ew_input);
    const uint8_t *rest = data;
    for (;;) {
        size_t part = length < room ? length : room;
        struct ew_input head = {kind, actor, length > room, (uint32_t)part};
        int error = ew_stream_tailed(stream, EW_BLOCK_INPUT, &head, rest, part);
        if (error || length <= room)
            return error;
        rest += part;
        length -= part;
    }
}
