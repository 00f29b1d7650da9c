/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include "syscalls.h"

void ew_json_begin(struct ew_json *json, int descriptor) {
    json->descriptor = descriptor;
    json->error = json->depth = json->after_key = 0;
    json->empty = 1;
    json->used = 0;
}

static void flush(struct ew_json *json) {
    size_t start = 0;
    while (!json->error && start < json->used) {
        long done = ew_sys_write(json->descriptor, json->buffer + start, json->used - start);
        if (done > 0)
            start += (size_t)done;
        else if (done != -EINTR)
            json->error = done ? (int)done : -EIO;
    }
    json->used = 0;
}

static void put(struct ew_json *json, char c) {
    if (json->used == sizeof json->buffer)
        flush(json);
    json->buffer[json->used++] = c;
}

static void text(struct ew_json *json, const char *words) {
    while (*words)
        put(json, *words++);
}

int ew_json_end(struct ew_json *json) {
    put(json, '\n');
    flush(json);
    return json->error;
}

static void new_line(struct ew_json *json) {
    put(json, '\n');
    for (int i = 0; i < json->depth; i++)
        text(json, "  ");
}

/* What stands between the last value and the next. */
static void before_value(struct ew_json *json) {
    if (!json->after_key && json->depth) {
        if (!json->empty)
            put(json, ',');
        new_line(json);
    }
    json->after_key = 0;
    json->empty = 0;
}

void ew_json_open(struct ew_json *json, char bracket) {
    before_value(json);
    put(json, bracket);
    json->depth++;
    json->empty = 1;
}

void ew_json_close(struct ew_json *json, char bracket) {
    json->depth--;
    if (!json->empty)
        new_line(json);
    put(json, bracket);
    json->empty = 0;
}

static void unit(struct ew_json *json, uint32_t utf16) {
    text(json, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        put(json, "0123456789abcdef"[utf16 >> shift & 15]);
}

/* The length of the UTF-8 sequence at `bytes` and its code point, or 0 when there is none. */
static int decode(const uint8_t *bytes, uint32_t *point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t first = bytes[0];
    int length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (!length || first > 0xf4)
        return 0;
    *point = first & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) /* the NUL at the end too */
            return 0;
        *point = *point << 6 | (bytes[i] & 0x3f);
    }
    int surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point < least[length] || *point > 0x10ffff || surrogate ? 0 : length;
}

static int outside_ascii(struct ew_json *json, const uint8_t *bytes) {
    uint32_t point = 0;
    int length = decode(bytes, &point);
    if (!length) {
        unit(json, 0xdc00 + bytes[0]); /* a byte that is no text, as os.fsdecode tells it */
        return 1;
    }
    if (point >= 0x10000) {
        unit(json, 0xd800 + ((point - 0x10000) >> 10));
        unit(json, 0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
        unit(json, point);
    }
    return length;
}

static void ascii(struct ew_json *json, char c) {
    static const char named[] = "\"\"\\\\\nn\rr\tt\ff\bb";
    for (const char *pair = named; *pair; pair += 2) {
        if (*pair == c) {
            put(json, '\\');
            put(json, pair[1]);
            return;
        }
    }
    if (c < ' ' || c == 0x7f)
        unit(json, (uint8_t)c);
    else
        put(json, c);
}

static void quoted(struct ew_json *json, const char *words) {
    const uint8_t *bytes = (const uint8_t *)words;
    put(json, '"');
    while (*bytes) {
        if (*bytes >= 0x80) {
            bytes += outside_ascii(json, bytes);
        } else {
            ascii(json, (char)*bytes);
            bytes++;
        }
    }
    put(json, '"');
}

void ew_json_key(struct ew_json *json, const char *key) {
    ew_json_string(json, key);
    text(json, ": ");
    json->after_key = 1;
}

void ew_json_string(struct ew_json *json, const char *words) {
    before_value(json);
    quoted(json, words);
}

void ew_json_number(struct ew_json *json, uint64_t number) {
    char digits[20];
    int count = 0;
    before_value(json);
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        put(json, digits[--count]);
}

void ew_json_boolean(struct ew_json *json, int value) {
    before_value(json);
    text(json, value ? "true" : "false");
}
