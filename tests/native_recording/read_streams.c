/* SPDX-License-Identifier: Apache-2.0 */
/* read_streams FILE...: one line per file: how many whole blocks it has, and how reading ended. */
#define _GNU_SOURCE
#include "reader.h"
#include "sample.h"

#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv) {
    void *buffer = malloc(EW_MAX_PAYLOAD);
    REQUIRE(buffer);
    for (int i = 1; i < argc; i++) {
        struct ew_reader reader;
        struct ew_block_view block;
        int status, fd = open(argv[i], O_RDONLY);
        REQUIRE(fd >= 0);
        ew_reader_init(&reader, fd, buffer, EW_MAX_PAYLOAD);
        while ((status = ew_reader_next(&reader, &block)) == EW_READ_BLOCK)
            continue;
        printf("%u %d\n", (unsigned)reader.blocks, status);
        close(fd);
    }
    free(buffer);
    return 0;
}
