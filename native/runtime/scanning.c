// SPDX-License-Identifier: Apache-2.0
// The scanf family: where it puts what it finds.
#include "libc.h"
#include "stream.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <wchar.h>

struct conversion {
    bool skips, allocates, is_long, is_wider; // *, m, l, L or ll
    size_t integer;                           // bytes
    size_t width;                             // 0: none
    char letter;
};

static void read_length(const char **at, struct conversion *is) {
    for (; **at && strchr("hlLqjztm", **at); ++*at) {
        is->allocates |= **at == 'm';
        is->is_wider |= **at == 'L' || (**at == 'l' && is->is_long);
        is->is_long |= **at == 'l';
        is->integer = **at == 'h' ? is->integer / 2 : **at == 'm' ? is->integer : 8;
    }
}

// Of %[...], in which ] comes first if it is meant.
static const char *behind_set(const char *at) {
    at += *at == '^';
    at += *at == ']';
    const char *end = strchr(at, ']');
    return end ? end + 1 : at + strlen(at);
}

// From behind the percent sign to behind the letter.
static struct conversion read_conversion(const char **at) {
    struct conversion is = {.integer = 4};
    for (; **at == '*' || **at == '\'' || **at == 'I'; ++*at)
        is.skips |= **at == '*';
    for (; isdigit((unsigned char)**at); ++*at)
        is.width = is.width * 10 + (size_t)(**at - '0');
    read_length(at, &is);
    is.letter = **at;
    *at += is.letter != 0;
    if (is.letter == '[')
        *at = behind_set(*at);
    return is;
}

static size_t wide_length(const wchar_t *text) {
    size_t i = 0;
    while (text[i])
        i++;
    return i;
}

// What stands there now is what was found. 0: nobody knows.
static size_t size_of(const struct conversion *is, const void *to) {
    bool is_wide = is->is_long || is->letter == 'S' || is->letter == 'C';
    if (is->allocates)
        return sizeof(void *);
    if (strchr("diouxXn", is->letter))
        return is->integer;
    if (is->letter == 'p')
        return sizeof(void *);
    if (strchr("aAeEfFgG", is->letter))
        return is->is_wider ? sizeof(long double) : is->is_long ? sizeof(double) : sizeof(float);
    if (strchr("cC", is->letter))
        return (is->width ? is->width : 1) * (is_wide ? sizeof(wchar_t) : 1);
    if (strchr("sS[", is->letter))
        return is_wide ? (wide_length(to) + 1) * sizeof(wchar_t) : strlen(to) + 1;
    return 0;
}

// Arguments that are named by number are left out.
static EW_COLD void touch_found(const char *format, va_list arguments, int found, const void *pc) {
    while ((format = strchr(format, '%'))) {
        format++;
        if (format[strspn(format, "0123456789")] == '$')
            return;
        struct conversion is = read_conversion(&format);
        if (is.letter == '%' || is.skips)
            continue;
        if (!is.letter || (is.letter != 'n' && found-- <= 0))
            return;
        void *to = va_arg(arguments, void *);
        ew_touch(EW_OP_STORE, to, size_of(&is, to), pc);
    }
}

// libc looks for its end first, however little is found in it.
static void touch_text(const char *text, const void *pc) {
    if (UNLIKELY(ew_watched))
        ew_touch(EW_OP_LOAD, text, strlen(text) + 1, pc);
}

// Told when it is done: it says how much was found, and others may run while it waits.
#define SCAN(call)                                                                                 \
    va_list copy;                                                                                  \
    va_copy(copy, arguments);                                                                      \
    int found = call;                                                                              \
    if (UNLIKELY(ew_watched))                                                                      \
        touch_found(format, copy, found, pc);                                                      \
    va_end(copy);                                                                                  \
    return found

#define VARIABLE(call)                                                                             \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    int found = call;                                                                              \
    va_end(arguments);                                                                             \
    return found

// Each standard has its own: they differ in what %a and binary numbers mean. The header gives the
// plain names to the one that the compiler follows, so that ours are given here.
#define TAKES(prefix, name, parameters)                                                            \
    EW_EXPORT int prefix##takes_##name parameters __asm__(#prefix #name);                          \
    EW_EXPORT int prefix##takes_##name parameters

#define SCANF(prefix)                                                                              \
    extern int prefix##vsscanf(const char *, const char *, va_list);                               \
    EW_REAL(prefix##vsscanf);                                                                      \
    static int prefix##from_text(const char *text, const char *format, va_list arguments,          \
                                 const void *pc) {                                                 \
        ew_touches();                                                                              \
        touch_text(text, pc);                                                                      \
        SCAN(REAL(prefix##vsscanf)(text, format, arguments));                                      \
    }                                                                                              \
    static int prefix##from_stream(FILE *stream, const char *format, va_list arguments,            \
                                   const void *pc) {                                               \
        SCAN(ew_enter_##prefix##vfscanf(stream, format, arguments));                               \
    }                                                                                              \
    TAKES(prefix, vsscanf, (const char *text, const char *format, va_list arguments)) {            \
        return prefix##from_text(text, format, arguments, PC);                                     \
    }                                                                                              \
    TAKES(prefix, sscanf, (const char *text, const char *format, ...)) {                           \
        VARIABLE(prefix##from_text(text, format, arguments, PC));                                  \
    }                                                                                              \
    TAKES(prefix, vfscanf, (FILE * stream, const char *format, va_list arguments)) {               \
        return prefix##from_stream(stream, format, arguments, PC);                                 \
    }                                                                                              \
    TAKES(prefix, vscanf, (const char *format, va_list arguments)) {                               \
        return prefix##from_stream(stdin, format, arguments, PC);                                  \
    }                                                                                              \
    TAKES(prefix, fscanf, (FILE * stream, const char *format, ...)) {                              \
        VARIABLE(prefix##from_stream(stream, format, arguments, PC));                              \
    }                                                                                              \
    TAKES(prefix, scanf, (const char *format, ...)) {                                              \
        VARIABLE(prefix##from_stream(stdin, format, arguments, PC));                               \
    }

SCANF()
SCANF(__isoc99_)
SCANF(__isoc23_)
