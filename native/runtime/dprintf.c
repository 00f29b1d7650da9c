// SPDX-License-Identifier: Apache-2.0
// dprintf: written as by write, so that other threads run while a pipe is full.
#include "runtime.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int put(int descriptor, const char *text, int length) {
    for (int done = 0; done < length;) {
        ssize_t more = write(descriptor, text + done, (size_t)(length - done));
        if (more < 0)
            return -1;
        done += (int)more;
    }
    return length;
}

EW_EXPORT int vdprintf(int descriptor, const char *format, va_list arguments) {
    char few[1024], *text = few;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(few, sizeof few, format, arguments);
    if (length >= (int)sizeof few && (text = malloc((size_t)length + 1)))
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    if (length < 0 || !text) {
        errno = text ? errno : ENOMEM;
        return -1;
    }
    int result = put(descriptor, text, length);
    if (text != few)
        free(text);
    return result;
}

EW_EXPORT int dprintf(int descriptor, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int result = vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return result;
}

// What _FORTIFY_SOURCE calls instead: libc would look for %n in memory that can be written.
EW_EXPORT int __vdprintf_chk(int descriptor, int flag, const char *format, va_list arguments) {
    (void)flag;
    return vdprintf(descriptor, format, arguments);
}

EW_EXPORT int __dprintf_chk(int descriptor, int flag, const char *format, ...) {
    (void)flag;
    va_list arguments;
    va_start(arguments, format);
    int result = vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return result;
}
