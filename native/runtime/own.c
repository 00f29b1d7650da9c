// SPDX-License-Identifier: Apache-2.0
// What the runtime itself calls by the names of libc's functions: nobody watches it. linkable.cmake
// renames these, and our calls of them.
#include "libc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EW_REAL(memcpy);
EW_REAL(memmove);
EW_REAL(memset);

// Before the start, when libc's cannot be asked for: some of what runs then is the loader's.
static void *copy(char *to, const char *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        to[i] = from[i];
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    return LIKELY(real_memcpy.function != NULL) ? REAL(memcpy)(to, from, size)
                                                : copy(to, from, size);
}

void *memmove(void *to, const void *from, size_t size) {
    return REAL(memmove)(to, from, size);
}

void *memset(void *to, int value, size_t size) {
    char *at = to;
    if (LIKELY(real_memset.function != NULL))
        return REAL(memset)(to, value, size);
    for (size_t i = 0; i < size; i++)
        at[i] = (char)value;
    return to;
}

int memcmp(const void *one, const void *other, size_t size) {
    const unsigned char *a = one, *b = other;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

// What clang makes of memcmp when only sameness is asked.
int bcmp(const void *one, const void *other, size_t size) {
    return memcmp(one, other, size);
}

void *memchr(const void *from, int value, size_t size) {
    const unsigned char *at = from;
    for (size_t i = 0; i < size; i++)
        if (at[i] == (unsigned char)value)
            return (void *)&at[i];
    return NULL;
}

size_t strlen(const char *text) {
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

size_t strnlen(const char *text, size_t limit) {
    size_t length = 0;
    while (length < limit && text[length])
        length++;
    return length;
}

int strncmp(const char *one, const char *other, size_t limit) {
    for (size_t i = 0; i < limit; i++) {
        if (one[i] != other[i] || !one[i])
            return (unsigned char)one[i] - (unsigned char)other[i];
    }
    return 0;
}

int strcmp(const char *one, const char *other) {
    return strncmp(one, other, SIZE_MAX);
}

char *strchr(const char *text, int wanted) {
    for (;; text++) {
        if (*text == (char)wanted)
            return (char *)text;
        if (!*text)
            return NULL;
    }
}

char *strrchr(const char *text, int wanted) {
    const char *last = NULL;
    do {
        if (*text == (char)wanted)
            last = text;
    } while (*text++);
    return (char *)last;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size) {
    size_t length = strnlen(from, size);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}

char *strcpy(char *restrict to, const char *restrict from) {
    return memcpy(to, from, strlen(from) + 1);
}

char *strstr(const char *text, const char *wanted) {
    size_t length = strlen(wanted);
    for (; *text || !length; text++)
        if (strncmp(text, wanted, length) == 0)
            return (char *)text;
    return NULL;
}

char *stpcpy(char *restrict to, const char *restrict from) {
    size_t length = strlen(from);
    memcpy(to, from, length + 1);
    return to + length;
}

char *strdup(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

EW_REAL(vsnprintf);

int vsnprintf(char *restrict to, size_t size, const char *restrict format, va_list arguments) {
    return REAL(vsnprintf)(to, size, format, arguments);
}

int snprintf(char *restrict to, size_t size, const char *restrict format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return length;
}

size_t strspn(const char *text, const char *set) {
    size_t length = 0;
    while (text[length] && strchr(set, text[length]))
        length++;
    return length;
}
