// SPDX-License-Identifier: Apache-2.0
// Says what is not under control, once for each function, on standard error.
#include "runtime.h"

#include <string.h>
#include <sys/uio.h>

EW_LARGE static const char *reported[512]; // by name; there are fewer functions in here that report
static size_t count;

static bool was_reported(const char *function) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(reported[i], function) == 0)
            return true;
    if (count < sizeof reported / sizeof *reported)
        reported[count++] = function;
    return false;
}

void ew_report(const char *function, const char *what) {
    if (was_reported(function))
        return;
    struct iovec line[] = {
        {"eitherway: ", 11}, {(char *)function, strlen(function)},
        {": ", 2},           {(char *)what, strlen(what)},
        {"\n", 1},
    };
    raw3(SYS_writev, 2, (long)line, sizeof line / sizeof *line);
}
