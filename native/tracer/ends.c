// SPDX-License-Identifier: Apache-2.0
// How it went, for whoever started this.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tracer.h"

static char notes[4096]; // "name": value, with commas between
static size_t used;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    int length = vsnprintf(notes + used, sizeof notes - used, format, rest);
    va_end(rest);
    if (length > 0 && (size_t)length < sizeof notes - used)
        used += (size_t)length;
    else
        notes[used] = '\0'; // what does not fit is left out whole
}

// Words of ours only: nothing in them needs a backslash.
void end_note(const char *name, const char *text) {
    put("%s\"%s\": \"%s\"", used ? ", " : "", name, text);
}

void end_note_number(const char *name, uint64_t value) {
    put("%s\"%s\": %llu", used ? ", " : "", name, (unsigned long long)value);
}

const char *end_notes(void) {
    return notes;
}

noreturn void die(int status, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    fprintf(stderr, "eitherway-tracer: ");
    vfprintf(stderr, format, rest);
    fprintf(stderr, "\n");
    va_end(rest);
    _exit(status);
}
