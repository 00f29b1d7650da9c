// SPDX-License-Identifier: Apache-2.0
// /proc/self/maps: FROM-TO rwxp ...
#include "maps.h"
#include "runtime.h"
#include "shadow.h"

#include <fcntl.h>

static bool is_ours(uintptr_t address) {
    return (address >= 1ul << 40 && address < 1ul << 41) ||
           (address >= 1ul << 44 && address < EW_SHADOW_BASE + EW_SHADOW_SIZE);
}

static const char *hexadecimal(const char *at, uintptr_t *value) {
    for (*value = 0; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        *value = *value << 4 | (uintptr_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
    return at;
}

static void take_line(const char *line,
                      void (*take)(uintptr_t from, uintptr_t to, const char *access)) {
    uintptr_t from, to;
    const char *at = hexadecimal(line, &from);
    at = hexadecimal(at + (*at == '-'), &to);
    if (!is_ours(from))
        take(from, to, at + 1);
}

#define LINE (4096 + 128) // a path, and what comes before it

bool ew_maps_each(void (*take)(uintptr_t from, uintptr_t to, const char *access)) {
    EW_LARGE static char text[4096], line[LINE];
    long maps = raw3(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), got = maps;
    size_t length = 0;
    while (maps >= 0 && (got = raw3(SYS_read, maps, (long)text, sizeof text)) > 0)
        for (long i = 0; i < got; i++) {
            if (text[i] != '\n') {
                line[length < LINE - 1 ? length++ : length] = text[i];
                continue;
            }
            line[length] = 0;
            take_line(line, take);
            length = 0;
        }
    raw1(SYS_close, maps);
    return got == 0;
}
