/* SPDX-License-Identifier: Apache-2.0 */
/* copy_stream FROM TO BLOCK_BYTES: reads a stream and writes its records again, one by one. */
#define _GNU_SOURCE
#include "reader.h"
#include "sample.h"
#include "stream.h"

#include <fcntl.h>

static void copy_tailed(struct ew_stream *stream, const struct ew_block_view *block) {
    uint64_t head[2];
    const uint8_t *tail;
    uint32_t offset = 0, length;
    while (ew_block_tailed(block, &offset, head, &tail, &length) == EW_READ_BLOCK) {
        const uint32_t *fields = (const uint32_t *)head;
        if (block->type == EW_BLOCK_STRINGS)
            REQUIRE(ew_stream_string(stream, (const char *)tail, length) == 0);
        else if (block->type == EW_BLOCK_METADATA)
            REQUIRE(ew_stream_metadata(stream, fields[0], tail, length) == 0);
        else
            REQUIRE(ew_stream_input(stream, fields[0], fields[1], tail, length) == 0);
    }
    REQUIRE(offset == block->length);
}

static void copy_rows(struct ew_stream *stream, const struct ew_block_view *block) {
    uint32_t size = ew_record_size(block->type);
    for (uint32_t i = 0; i < block->records; i++)
        REQUIRE(ew_stream_rows(stream, block->type, block->payload + (size_t)i * size, 1) == 0);
}

int main(int argc, char **argv) {
    REQUIRE(argc == 4);
    size_t size = sizeof(struct ew_block_header) + strtoul(argv[3], NULL, 10);
    void *in = malloc(EW_MAX_PAYLOAD), *out = malloc(size);
    int from = open(argv[1], O_RDONLY), to = open(argv[2], O_WRONLY | O_CREAT | O_EXCL, 0600);
    REQUIRE(in && out && from >= 0 && to >= 0);
    struct ew_reader reader;
    struct ew_block_view block;
    struct ew_stream stream;
    int status;
    ew_reader_init(&reader, from, in, EW_MAX_PAYLOAD);
    REQUIRE(ew_stream_init(&stream, ew_write_to_fd, (void *)(intptr_t)to, out, size) == 0);
    while ((status = ew_reader_next(&reader, &block)) == EW_READ_BLOCK)
        (ew_record_has_tail(block.type) ? copy_tailed : copy_rows)(&stream, &block);
    REQUIRE(status == EW_READ_END);
    REQUIRE(ew_stream_flush(&stream) == 0);
    REQUIRE(stream.crc == reader.crc && stream.blocks == reader.blocks);
    free(in);
    free(out);
    return 0;
}
