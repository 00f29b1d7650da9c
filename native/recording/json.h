/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON to a descriptor, as Python's json.dumps(indent=2) does, byte for byte. */
#ifndef EITHERWAY_JSON_H
#define EITHERWAY_JSON_H

#include <stddef.h>
#include <stdint.h>

struct ew_json {
    int descriptor;
    int error; /* the first one stays */
    int depth;
    int empty;     /* nothing stands yet in the innermost object or array */
    int after_key; /* the next value belongs on the line of its key */
    size_t used;
    char buffer[1024];
};

void ew_json_begin(struct ew_json *json, int descriptor);
int ew_json_end(struct ew_json *json); /* 0 or -errno */

void ew_json_open(struct ew_json *json, char bracket);  /* '{' or '[' */
void ew_json_close(struct ew_json *json, char bracket); /* '}' or ']' */
void ew_json_key(struct ew_json *json, const char *key);
void ew_json_string(struct ew_json *json, const char *text);
void ew_json_number(struct ew_json *json, uint64_t number);
void ew_json_boolean(struct ew_json *json, int value);

#endif
