// SPDX-License-Identifier: Apache-2.0
// Functions whose result says how far they wrote.
#include "libc.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static size_t text_at(const char *text) {
    return text ? strlen(text) + 1 : 0;
}

static void read_day(const char *format, const struct tm *day, const void *pc) {
    ew_touch(EW_OP_LOAD, format, text_at(format), pc);
    ew_touch(EW_OP_LOAD, day, sizeof *day, pc);
}

// `size` is an expression over `result` and the arguments: 0 when nothing was written.
#define WRITES(type, name, parameters, values, to, size)                                           \
    WRITES_TOO(type, name, parameters, values, (void)0, to, size)
#define WRITES_TOO(type, name, parameters, values, reads, to, size)                                \
    EW_REAL(name);                                                                                 \
    EW_EXPORT type name parameters {                                                               \
        ew_touches();                                                                              \
        type result = REAL(name) values;                                                           \
        if (UNLIKELY(ew_watched)) {                                                                \
            reads;                                                                                 \
            ew_touch(EW_OP_STORE, to, size, PC);                                                   \
        }                                                                                          \
        return result;                                                                             \
    }

WRITES_TOO(size_t, strftime,
           (char *restrict to, size_t room, const char *restrict format,
            const struct tm *restrict day),
           (to, room, format, day), read_day(format, day, PC), to, result ? result + 1 : 0)
WRITES(char *, getcwd, (char *to, size_t room), (to, room), to, to ? text_at(result) : 0)
WRITES(int, gethostname, (char *to, size_t room), (to, room), to,
       result == 0 ? strnlen(to, room) + 1 : 0)
WRITES(int, uname, (struct utsname * to), (to), to, result == 0 ? sizeof *to : 0)
WRITES(char *, realpath, (const char *restrict path, char *restrict to), (path, to), to,
       to ? text_at(result) : 0)
WRITES(const char *, inet_ntop,
       (int family, const void *restrict from, char *restrict to, socklen_t room),
       (family, from, to, room), to, text_at(result))
WRITES(char *, strerror_r, (int error, char *to, size_t room), (error, to, room), to,
       result == to ? text_at(result) : 0)
WRITES(size_t, mbstowcs, (wchar_t *restrict to, const char *restrict from, size_t room),
       (to, from, room), to, to &&result != SIZE_MAX ? 4 * (result < room ? result + 1 : room) : 0)
WRITES(size_t, wcstombs, (char *restrict to, const wchar_t *restrict from, size_t room),
       (to, from, room), to, to &&result != SIZE_MAX ? (result < room ? result + 1 : room) : 0)
