// SPDX-License-Identifier: Apache-2.0
// Options are few and come from our own side, but a person may type them too.
#include "options.h"

#include <string.h>

EW_LARGE static char kept[8192]; // cut into strings; names and values point into it

static uint64_t number(const char *text) {
    uint64_t value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > (UINT64_MAX - 9) / 10)
            ew_cannot("EITHERWAY_OPTIONS: a number is needed");
        value = value * 10 + (uint64_t)(*text - '0');
    }
    return value;
}

static void take(struct ew_options *options, const char *name, const char *value) {
    if (strcmp(name, "scheduler") == 0)
        options->scheduler = value;
    else if (strcmp(name, "trace") == 0)
        options->trace = value;
    else if (strcmp(name, "seed") == 0)
        options->seed = number(value);
    else if (strcmp(name, "record") == 0)
        options->record = (int)number(value);
    else if (strcmp(name, "replay") == 0)
        options->replay = (int)number(value);
    else if (strcmp(name, "inputs") == 0)
        options->inputs = (int)number(value);
    else if (strcmp(name, "given") == 0)
        options->given = (int)number(value);
    else if (strcmp(name, "server") == 0)
        options->server = (int)number(value);
    else if (strcmp(name, "threads") == 0)
        options->threads = (uint32_t)number(value);
    else if (strcmp(name, "until") == 0)
        options->until = number(value);
    else if (strcmp(name, "tied") == 0)
        options->tied = number(value) != 0;
    else
        ew_cannot("EITHERWAY_OPTIONS has a name that is not known");
}

void ew_options_read(const char *text, struct ew_options *options) {
    *options = (struct ew_options){.scheduler = "random-walk",
                                   .record = -1,
                                   .replay = -1,
                                   .inputs = -1,
                                   .given = -1,
                                   .server = -1};
    if (!text)
        return;
    if (strlen(text) >= sizeof kept)
        ew_cannot("EITHERWAY_OPTIONS is too long");
    strcpy(kept, text);
    for (char *at = kept; at && *at;) {
        char *name = at, *end = strchr(at, ':'), *equals = strchr(at, '=');
        if (end)
            *end = 0;
        at = end ? end + 1 : NULL;
        if (!*name)
            continue; // the text is filled up to a width
        if (!equals || (end && equals > end))
            ew_cannot("EITHERWAY_OPTIONS: name=value is needed");
        *equals = 0;
        take(options, name, equals + 1);
    }
}
