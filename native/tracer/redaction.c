// SPDX-License-Identifier: Apache-2.0
// What a recording must not hold when that is asked for. In the place of a word stands a number,
// the same for the same word, and its length: no digest, which could be guessed back.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbering.h"
#include "tracer.h"

enum { PLACEHOLDER_MAX = 64 };

static bool is_on;
static struct numbering words;

void redaction_begin(void) {
    is_on = true;
}

bool redaction_is_on(void) {
    return is_on;
}

static int placeholder(const char *word, size_t length, char to[PLACEHOLDER_MAX]) {
    bool is_new;
    uint32_t number = numbering_of(&words, word, length, &is_new);
    return snprintf(to, PLACEHOLDER_MAX, "<argument %u, %zu bytes>", number, length);
}

static void *must(void *memory) {
    if (!memory)
        die(EXIT_UNAVAILABLE, "there is not enough memory");
    return memory;
}

char **redaction_of_command(char **command, size_t count) {
    char **told = must(calloc(count + 1, sizeof *told)), text[PLACEHOLDER_MAX];
    for (size_t i = 0; i < count; i++) {
        if (i)
            placeholder(command[i], strlen(command[i]), text);
        told[i] = must(strdup(i ? text : command[i]));
    }
    return told;
}

// Each word has a NUL behind it but for one that was cut off.
uint32_t command_line_number(const char *text, size_t length) {
    size_t used = 0, room = (length + 1) * PLACEHOLDER_MAX;
    if (!is_on)
        return text_number(text, length);
    char *told = must(malloc(room));
    for (size_t at = 0; at < length;) {
        const char *word = text + at;
        size_t size = strnlen(word, length - at);
        if (at)
            used += (size_t)placeholder(word, size, told + used);
        else
            memcpy(told, word, used = size);
        told[used++] = '\0';
        at += size + 1;
    }
    uint32_t number = text_number(told, used);
    free(told);
    return number;
}
