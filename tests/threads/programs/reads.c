// SPDX-License-Identifier: Apache-2.0
// Prints one line from a named pipe, and ends.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **arguments) {
    char line[99];
    int pipe = count > 1 ? open(arguments[1], O_RDWR) : -1; // both: it opens without a writer
    ssize_t got = read(pipe, line, sizeof line);
    return got > 0 && write(1, line, (size_t)got) == got ? 0 : 1;
}
