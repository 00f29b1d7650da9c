// SPDX-License-Identifier: Apache-2.0
// What the runtime says, on standard error; what is not under control once for each function.
//
// A program may close its standard error, and what it opens next has its number: a file of data,
// into which we do not write. What we have to say is lost then.
#include "runtime.h"

#include <string.h>
#include <sys/stat.h>

static struct stat first; // what descriptor 2 was at the start; nothing when it was closed

void ew_say_start(void) {
    if (raw3(SYS_fstat, 2, (long)&first, 0) < 0)
        first = (struct stat){0};
}

void ew_say(const struct iovec *parts, size_t count) {
    struct stat now;
    if (raw3(SYS_fstat, 2, (long)&now, 0) == 0 && now.st_ino == first.st_ino &&
        now.st_dev == first.st_dev)
        raw3(SYS_writev, 2, (long)parts, (long)count);
}

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
    ew_say(line, sizeof line / sizeof *line);
}
