/* SPDX-License-Identifier: Apache-2.0 */
/* A stream whose file takes a few bytes at a time, then no more: the first error stays. */
#include "sample.h"
#include "stream.h"

#include <errno.h>

struct disk {
    size_t room;
    size_t taken;
    int interrupts;
};

static long write_some(void *context, const void *data, size_t length) {
    struct disk *disk = context;
    (void)data;
    if (disk->interrupts-- > 0)
        return -EINTR;
    size_t left = disk->room - disk->taken;
    size_t some = left < 7 ? left : 7;
    some = some < length ? some : length;
    disk->taken += some;
    return some ? (long)some : -ENOSPC;
}

enum { ROOM = EW_MAX_RECORD + 8 };

int main(void) {
    uint8_t buffer[sizeof(struct ew_block_header) + ROOM];
    uint32_t choice = 5;
    struct disk disk = {.room = sizeof buffer + 12, .interrupts = 3};
    struct ew_stream stream;
    REQUIRE(ew_stream_init(&stream, write_some, &disk, buffer, EW_MAX_RECORD) == -EINVAL);
    REQUIRE(ew_stream_init(&stream, write_some, &disk, buffer, sizeof buffer) == 0);
    REQUIRE(ew_stream_flush(&stream) == 0 && disk.taken == 0);
    int error = 0;
    for (int i = 0; i < ROOM / 4 + 1; i++)
        error = ew_stream_rows(&stream, EW_BLOCK_CHOICES, &choice, 1);
    REQUIRE(error == 0 && stream.blocks == 1 && stream.size == sizeof buffer);
    REQUIRE(ew_stream_flush(&stream) == -ENOSPC); /* 28 bytes more do not fit */
    REQUIRE(disk.taken == sizeof buffer + 12);
    disk.room = 1000;
    REQUIRE(ew_stream_rows(&stream, EW_BLOCK_CHOICES, &choice, 1) == -ENOSPC);
    REQUIRE(ew_stream_rows(&stream, EW_BLOCK_VALUES, buffer, 1) == -ENOSPC);
    REQUIRE(ew_stream_string(&stream, "x", 1) == -ENOSPC);
    REQUIRE(ew_stream_input(&stream, 1, 0, buffer, sizeof buffer) == -ENOSPC);
    REQUIRE(ew_stream_flush(&stream) == -ENOSPC);
    REQUIRE(disk.taken == sizeof buffer + 12 && stream.blocks == 1);
    return 0;
}
