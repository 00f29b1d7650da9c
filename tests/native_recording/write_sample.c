/* SPDX-License-Identifier: Apache-2.0 */
/* write_sample DIRECTORY BLOCK_BYTES [kill]: the recording that test_native.py builds in Python
 * too. With `kill` the process ends itself by SIGKILL before the recording is complete. */
#define _GNU_SOURCE
#include "recording.h"
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

enum { OPERATIONS = 1000 };

static void write_tables(struct ew_stream *stream) {
    static const char *const strings[] = {"",        "main", "counter", "memory",
                                          "a\xff.c", "prog", "how"};
    struct ew_actor actors[] = {
        {.name = 1, .parent = 0, .started_by = UINT32_MAX, .native_id = 4711},
        {.name = 1, .parent = 0, .started_by = 0, .native_id = UINT64_MAX},
    };
    struct ew_object objects[] = {{0, 0, 0}, {3, 2, 0}};
    struct ew_range ranges[] = {{.object = 0, .hi = 1}, {.object = 1, .lo = 8, .hi = 16}};
    struct ew_place places[] = {
        {0, 0, 0, 0, 0, 0, 0},
        {.function = 1, .file = 4, .line = 12, .column = 3, .module = 5, .offset = 0x123456789a},
    };
    struct ew_stack stacks[] = {{0, 0}, {0, 1}};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        REQUIRE(ew_stream_string(stream, strings[i], strlen(strings[i])) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_ACTORS, actors, 2) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_OBJECTS, objects, 2) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_RANGES, ranges, 2) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_PLACES, places, 2) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_STACKS, stacks, 2) == 0);
}

static void write_operations(struct ew_stream *stream) {
    for (uint32_t i = 1; i < OPERATIONS; i += 2) {
        struct ew_edge edge = {.source = i - 1, .target = i, .kind = EW_EDGE_CHANCE};
        REQUIRE(ew_stream_rows(stream, EW_BLOCK_EDGES, &edge, 1) == 0);
    }
    uint32_t step = stream->capacity / sizeof(struct ew_operation);
    for (uint32_t start = 0; start < OPERATIONS; start += step) {
        uint32_t end = start + step < OPERATIONS ? start + step : OPERATIONS;
        for (uint64_t i = start; i < end; i++) {
            struct ew_value value = {i * i};
            REQUIRE(ew_stream_rows(stream, EW_BLOCK_VALUES, &value, 1) == 0);
        }
        for (uint32_t i = start; i < end; i++) {
            struct ew_operation operation = {
                .actor = i % 2,
                .range = 1,
                .stack = i % 3 ? 1 : 0,
                .kind = i % 2 ? EW_OP_LOAD : EW_OP_STORE,
                .flags = i % 5 ? 0 : EW_FLAG_ATOMIC,
            };
            REQUIRE(ew_stream_rows(stream, EW_BLOCK_OPERATIONS, &operation, 1) == 0);
        }
    }
}

static void write_input(struct ew_stream *stream) {
    static uint8_t data[3000];
    uint32_t choices[] = {3, 1, 4, 1, 5, 9, 2, 6};
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_CHOICES, choices, 8) == 0);
    REQUIRE(ew_stream_input(stream, 7, 1, data, sizeof data) == 0);
    REQUIRE(ew_stream_input(stream, 8, 0, NULL, 0) == 0);
    REQUIRE(ew_stream_metadata(stream, 6, "quickly", 7) == 0);
    REQUIRE(ew_stream_rows(stream, EW_BLOCK_STRINGS, data, 1) == -EINVAL);
    REQUIRE(ew_stream_rows(stream, 99, data, 1) == -EINVAL);
    REQUIRE(ew_stream_string(stream, (char *)data, EW_MAX_PAYLOAD) == -EMSGSIZE);
}

static const char *const command[] = {"prog", "caf\xc3\xa9 \xf0\x9f\x90\x8e",
                                      "\xff\xfe\"\\\n\x7f\x01"};
static const struct ew_build_id build_ids[] = {{"/bin/prog", "c0ffee"}, {"/lib/libc.so.6", "01"}};
static const struct ew_facts facts = {
    .tool = "0.0.test",
    .world = "threads",
    .recorded_by = "test",
    .created = "2025-01-02T03:04:05Z",
    .command = command,
    .command_count = 3,
    .kernel = "6.1.0",
    .machine = "x86_64",
    .cpu = "",
    .build_ids = build_ids,
    .build_id_count = 2,
};

int main(int argc, char **argv) {
    REQUIRE(argc >= 3);
    size_t size = sizeof(struct ew_block_header) + strtoul(argv[2], NULL, 10);
    static const char *const names[] = {"trace" EW_STREAM_SUFFIX, "run" EW_STREAM_SUFFIX};
    struct ew_stream streams[2];
    struct ew_stream_file files[2];
    void *buffers[2];
    umask(0);
    REQUIRE(mkdir(argv[1], 0700) == 0);
    int directory = open(argv[1], O_RDONLY | O_DIRECTORY);
    REQUIRE(directory >= 0);
    errno = 12345;
    REQUIRE(ew_recording_begin(directory, &facts) == 0);
    for (int i = 0; i < 2; i++) {
        int fd = ew_recording_create(directory, names[i]);
        buffers[i] = malloc(size);
        REQUIRE(fd >= 0 && buffers[i]);
        REQUIRE(ew_stream_init(&streams[i], ew_write_to_fd, (void *)(intptr_t)fd, buffers[i],
                               size) == 0);
        files[i] = (struct ew_stream_file){names[i], fd, &streams[i]};
    }
    REQUIRE(ew_recording_create(directory, names[0]) == -EEXIST);
    write_tables(&streams[0]);
    write_operations(&streams[0]);
    write_input(&streams[1]);
    if (argc > 3)
        raise(SIGKILL);
    REQUIRE(ew_recording_finish(directory, &facts, files, 2) == 0);
    REQUIRE(errno == 12345); /* a failed call above must not show */
    for (int i = 0; i < 2; i++)
        free(buffers[i]);
    return 0;
}
