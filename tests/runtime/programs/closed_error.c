// SPDX-License-Identifier: Apache-2.0
// What has the number of standard error, once that is closed, is the program's own.
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_QUIETLY(expression)                                                                  \
    do {                                                                                           \
        if (!(expression))                                                                         \
            _exit(__LINE__ & 0x7F);                                                                \
    } while (0)

static int opened(char *name) {
    int file = mkstemp(name);
    unlink(name);
    return file;
}

int main(void) {
    char data[] = "/tmp/eitherway-XXXXXX", other[] = "/tmp/eitherway-XXXXXX", text[64] = "";
    double load;
    CHECK(close(2) == 0);
    CHECK_QUIETLY(opened(data) == 2);
    CHECK_QUIETLY(write(2, "one\n", 4) == 4);
    CHECK_QUIETLY(close(opened(other)) == 0);
    CHECK_QUIETLY(getloadavg(&load, 1) == 1); // which we would say something about
    CHECK_QUIETLY(write(2, "two\n", 4) == 4);
    CHECK_QUIETLY(pread(2, text, sizeof text - 1, 0) == 8 && strcmp(text, "one\ntwo\n") == 0);
    return 0;
}
