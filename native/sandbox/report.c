// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <stdarg.h>
#include <stdio.h>

struct out {
    char *text;
    int length;
};

static void add(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct out *out, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t left = (size_t)(REPORT_MAX - out->length);
    int length = vsnprintf(out->text + out->length, left, format, arguments);
    va_end(arguments);
    out->length += length < (int)left ? length : (int)left - 1;
}

static void add_string(struct out *out, const char *text) {
    add(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            add(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            add(out, "\\u%04x", c);
        else
            add(out, "%c", c);
    }
    add(out, "\"");
}

int report_isolation(const struct isolation *isolation, char line[REPORT_MAX]) {
    struct out out = {line, 0};
    add(&out, "{\"version\": 1");
    for (int kind = 0; kind < KINDS; kind++) {
        add(&out, ", \"%s\": {\"isolation\": ", kind_names[kind]);
        add_string(&out, isolation->in_force[kind]);
        add(&out, ", \"why\": ");
        add_string(&out, isolation->why[kind]);
        add(&out, "}");
    }
    add(&out, ", \"read_only\": %u, \"init\": %d", isolation->read_only, (int)isolation->init);
    add(&out, ", \"namespaces\": %d", isolation->namespaces);
    add(&out, ", \"scratch\": %s}\n", isolation->scratch ? "true" : "false");
    return out.length;
}

int report_error(const char *error, char line[REPORT_MAX]) {
    struct out out = {line, 0};
    add(&out, "{\"version\": 1, \"error\": ");
    add_string(&out, error);
    add(&out, "}\n");
    return out.length;
}
