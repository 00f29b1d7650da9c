// SPDX-License-Identifier: Apache-2.0
// The printf family: what it reads of the program's memory, and where it puts the text.
#include "libc.h"
#include "stream.h"
#include "sync.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// --- the arguments that a format points to

struct conversion {
    bool is_long, is_long_double;
    size_t integer; // bytes
    int precision;  // -1: none
    char letter;
};

static int number(const char **at, va_list arguments) {
    int value = 0;
    if (**at == '*') {
        ++*at;
        return va_arg(arguments, int);
    }
    for (; isdigit((unsigned char)**at); ++*at)
        value = value * 10 + (**at - '0');
    return value;
}

static void read_length(const char **at, struct conversion *is) {
    for (; **at && strchr("hlLqjzt", **at); ++*at) {
        is->is_long_double |= **at == 'L';
        is->is_long |= **at == 'l';
        is->integer = **at == 'h' ? is->integer / 2 : 8;
    }
}

// From behind the percent sign to behind the letter.
static struct conversion read_conversion(const char **at, va_list arguments) {
    struct conversion is = {.integer = 4, .precision = -1};
    *at += strspn(*at, "-+ #0'I");
    number(at, arguments);
    if (**at == '.') {
        ++*at;
        is.precision = number(at, arguments);
    }
    read_length(at, &is);
    is.letter = **at;
    *at += is.letter != 0;
    return is;
}

static void touch_text(const char *text, int precision, const void *pc) {
    size_t limit = precision < 0 ? INT_MAX : (size_t)precision;
    size_t length = text ? strnlen(text, limit) : 0;
    if (text)
        ew_touch(EW_OP_LOAD, text, length < limit ? length + 1 : limit, pc);
}

// False: nobody knows what comes behind.
static bool touch_argument(const struct conversion *is, va_list arguments, const void *pc) {
    if (strchr("dioucxXpCS", is->letter) || (is->letter == 's' && is->is_long))
        (void)va_arg(arguments, long);
    else if (strchr("aAeEfFgG", is->letter) && is->is_long_double)
        (void)va_arg(arguments, long double);
    else if (strchr("aAeEfFgG", is->letter))
        (void)va_arg(arguments, double);
    else if (is->letter == 's')
        touch_text(va_arg(arguments, const char *), is->precision, pc);
    else if (is->letter == 'n')
        ew_touch(EW_OP_STORE, va_arg(arguments, void *), is->integer, pc);
    else
        return is->letter == '%' || is->letter == 'm';
    return true;
}

// Arguments that are named by number are left out.
static EW_COLD void touch_all(const char *format, va_list arguments, const void *pc) {
    touch_text(format, -1, pc);
    while ((format = strchr(format, '%'))) {
        format++;
        if (format[strspn(format, "0123456789")] == '$')
            return;
        struct conversion is = read_conversion(&format, arguments);
        if (!is.letter || !touch_argument(&is, arguments, pc))
            return;
    }
}

static void touch_format(const char *format, va_list arguments, const void *pc) {
    if (UNLIKELY(ew_watched))
        touch_all(format, arguments, pc);
}

#define VARIABLE(call)                                                                             \
    va_list arguments;                                                                             \
    va_start(arguments, format);                                                                   \
    int length = call;                                                                             \
    va_end(arguments);                                                                             \
    return length

// --- into a stream

// Told when it is done: others may run while it waits.
#define TO_STREAM(call)                                                                            \
    va_list copy;                                                                                  \
    va_copy(copy, arguments);                                                                      \
    int length = call;                                                                             \
    touch_format(format, copy, pc);                                                                \
    va_end(copy);                                                                                  \
    return length

static int put(FILE *stream, const char *format, va_list arguments, const void *pc) {
    TO_STREAM(ew_enter_vfprintf(stream, format, arguments));
}

static int put_checked(FILE *stream, int flag, const char *format, va_list arguments,
                       const void *pc) {
    TO_STREAM(ew_enter___vfprintf_chk(stream, flag, format, arguments));
}

EW_EXPORT int vfprintf(FILE *stream, const char *format, va_list arguments) {
    return put(stream, format, arguments, PC);
}

EW_EXPORT int vprintf(const char *format, va_list arguments) {
    return put(stdout, format, arguments, PC);
}

EW_EXPORT int fprintf(FILE *stream, const char *format, ...) {
    VARIABLE(put(stream, format, arguments, PC));
}

EW_EXPORT int printf(const char *format, ...) {
    VARIABLE(put(stdout, format, arguments, PC));
}

EW_EXPORT int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments) {
    return put_checked(stream, flag, format, arguments, PC);
}

EW_EXPORT int __vprintf_chk(int flag, const char *format, va_list arguments) {
    return put_checked(stdout, flag, format, arguments, PC);
}

EW_EXPORT int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
    VARIABLE(put_checked(stream, flag, format, arguments, PC));
}

EW_EXPORT int __printf_chk(int flag, const char *format, ...) {
    VARIABLE(put_checked(stdout, flag, format, arguments, PC));
}

// --- into memory

extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
extern int __vsprintf_chk(char *, int, size_t, const char *, va_list);
extern int __vasprintf_chk(char **, int, const char *, va_list);
EW_REAL(vsnprintf);
EW_REAL(vsprintf);
EW_REAL(__vsnprintf_chk);
EW_REAL(__vsprintf_chk);

static void begin(const char *format, va_list arguments, const void *pc) {
    va_list copy;
    va_copy(copy, arguments);
    ew_touches();
    touch_format(format, copy, pc);
    va_end(copy);
}

static int end(char *to, size_t size, int length, const void *pc) {
    if (length >= 0 && size)
        ew_touch(EW_OP_STORE, to, (size_t)length < size ? (size_t)length + 1 : size, pc);
    return length;
}

// Each with its arguments listed and as a va_list.
#define INTO_MEMORY(name, vname, parameters, values, size)                                         \
    static int do_##name(OPEN parameters, const char *format, va_list arguments, const void *pc) { \
        begin(format, arguments, pc);                                                              \
        return end(to, size, REAL(vname)(OPEN values, format, arguments), pc);                     \
    }                                                                                              \
    EW_EXPORT int ew_takes_##vname(OPEN parameters, const char *format, va_list arguments) {       \
        return do_##name(OPEN values, format, arguments, PC);                                      \
    }                                                                                              \
    EW_EXPORT int ew_takes_##name(OPEN parameters, const char *format, ...) {                      \
        VARIABLE(do_##name(OPEN values, format, arguments, PC));                                   \
    }
#define OPEN(...) __VA_ARGS__

INTO_MEMORY(snprintf, vsnprintf, (char *to, size_t size), (to, size), size)
INTO_MEMORY(sprintf, vsprintf, (char *to), (to), SIZE_MAX)
INTO_MEMORY(__snprintf_chk, __vsnprintf_chk, (char *to, size_t size, int flag, size_t room),
            (to, size, flag, room), size)
INTO_MEMORY(__sprintf_chk, __vsprintf_chk, (char *to, int flag, size_t room), (to, flag, room),
            SIZE_MAX)

// --- into a new block

EW_REAL(vasprintf);
EW_REAL(__vasprintf_chk);

static int made(char **to, int length, const void *pc) {
    if (length >= 0 && UNLIKELY(ew_watched)) {
        ew_touch(EW_OP_STORE, to, sizeof *to, pc);
        ew_touch(EW_OP_STORE, *to, (size_t)length + 1, pc);
    }
    return length;
}

static int make(char **to, const char *format, va_list arguments, const void *pc) {
    begin(format, arguments, pc);
    return made(to, REAL(vasprintf)(to, format, arguments), pc);
}

static int make_checked(char **to, int flag, const char *format, va_list arguments,
                        const void *pc) {
    begin(format, arguments, pc);
    return made(to, REAL(__vasprintf_chk)(to, flag, format, arguments), pc);
}

EW_EXPORT int vasprintf(char **to, const char *format, va_list arguments) {
    return make(to, format, arguments, PC);
}

EW_EXPORT int asprintf(char **to, const char *format, ...) {
    VARIABLE(make(to, format, arguments, PC));
}

EW_EXPORT int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments) {
    return make_checked(to, flag, format, arguments, PC);
}

EW_EXPORT int __asprintf_chk(char **to, int flag, const char *format, ...) {
    VARIABLE(make_checked(to, flag, format, arguments, PC));
}

EW_ALIAS(__asprintf, asprintf);
