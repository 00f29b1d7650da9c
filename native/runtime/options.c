// SPDX-License-Identifier: Apache-2.0
// Options are few and come from our own side, but a person may type them too.
#include "options.h"

#include <string.h>

EW_LARGE static char kept[8192]; // cut into strings; names and values point into it

static uint64_t number(const char *text) {
    uint64_t value = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || value > (UINT64_MAX - (uint64_t)(*text - '0')) / 10)
            ew_bad_options("EITHERWAY_OPTIONS: a number is needed");
        value = value * 10 + (uint64_t)(*text - '0');
    }
    return value;
}

#define FIELD(name, member)                                                                        \
    {name, offsetof(struct ew_options, member), sizeof(((struct ew_options *)0)->member)}
static const struct {
    const char *name;
    size_t offset, size;
} numbers[] = {
    FIELD("seed", seed),
    FIELD("run", run),
    FIELD("parent", parent),
    FIELD("ordinal", ordinal),
    FIELD("detect", detect),
    FIELD("guided", guided),
    FIELD("late", tuning.late),
    FIELD("depth", tuning.depth),
    FIELD("length", tuning.length),
    FIELD("interesting", tuning.interesting),
    FIELD("branch-arm", tuning.branch.arm),
    FIELD("branch-first", tuning.branch.first),
    FIELD("branch-second", tuning.branch.second),
    FIELD("branch-op", tuning.branch.op),
    FIELD("branch-times", tuning.branch.times),
    FIELD("branch-size", tuning.branch.size),
    FIELD("branch-address", tuning.branch.address),
    FIELD("branch-cut", tuning.branch.cut),
    FIELD("branch-patience", tuning.branch.patience),
    FIELD("branch-rests", tuning.branch.rests),
    FIELD("branch-turned", tuning.branch.turned),
    FIELD("branch-stores", tuning.branch.stores),
    FIELD("branch-longest", tuning.branch.longest),
    FIELD("branch-slow", tuning.branch.slow),
    FIELD("branch-pause", tuning.branch.pause),
    FIELD("branch-stop", tuning.branch.stop),
    FIELD("branch-files", tuning.branch.files),
    FIELD("server", server),
    FIELD("threads", threads),
    FIELD("tied", tied),
    FIELD("trace", trace.directory),
    FIELD("trace-depth", trace.depth),
    FIELD("trace-frames", trace.frames),
    FIELD("trace-from", trace.from),
    FIELD("trace-until", trace.until),
    FIELD("trace-low", trace.low),
    FIELD("trace-high", trace.high),
    FIELD("trace-relative", trace.relative),
    FIELD("trace-passing", trace.passing),
    FIELD("trace-left", trace.left),
};

static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"scheduler", offsetof(struct ew_options, scheduler)},
    {"family", offsetof(struct ew_options, family)},
    {"given", offsetof(struct ew_options, given)},
    {"guide", offsetof(struct ew_options, guide)},
    {"trace-also", offsetof(struct ew_options, trace.also)},
};

static void put(struct ew_options *options, size_t offset, size_t size, uint64_t value) {
    if (size < sizeof value && value >> (8 * size))
        ew_bad_options("EITHERWAY_OPTIONS: a number is too large");
    memcpy((char *)options + offset, &value, size); // little-endian
}

static void take(struct ew_options *options, const char *name, const char *value) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            memcpy((char *)options + texts[i].offset, &value, sizeof value);
            return;
        }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0) {
            put(options, numbers[i].offset, numbers[i].size, number(value));
            return;
        }
    ew_bad_options("EITHERWAY_OPTIONS has a name that is not known");
}

void ew_options_read(const char *text, struct ew_options *options) {
    *options = (struct ew_options){.scheduler = "random-walk",
                                   .run = EW_NO_RUN,
                                   .parent = UINT32_MAX,
                                   .is_told = text,
                                   .server = -1,
                                   .guided = -1,
                                   .trace = EW_TRACE_NOTHING};
    if (!text)
        return;
    if (strlen(text) >= sizeof kept)
        ew_bad_options("EITHERWAY_OPTIONS is too long");
    strcpy(kept, text);
    for (char *at = kept; at && *at;) {
        if (*at == ':') { // the text is filled up to a width
            at++;
            continue;
        }
        char *name = at, *end = strchr(at, ':'), *equals = strchr(at, '=');
        if (end)
            *end = 0;
        at = end ? end + 1 : NULL;
        if (!equals || (end && equals > end))
            ew_bad_options("EITHERWAY_OPTIONS: name=value is needed");
        *equals = 0;
        take(options, name, equals + 1);
    }
}
