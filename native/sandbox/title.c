// SPDX-License-Identifier: Apache-2.0
// The kernel gives the words as they lie in memory, one behind the other. Where the last byte of
// them is no end of a text, it gives the first text there and no more.
#include "title.h"

#include <stdlib.h>
#include <string.h>

static char **copied(int count, char **words) {
    char **copy = calloc((size_t)count + 1, sizeof *copy);
    for (int i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(words[i])))
            return NULL;
    return copy;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char **title_take(int count, char **words) {
    char **copy = copied(count, words);
    if (!copy || count < 2) // a name alone is one already
        return copy;
    char *end = words[count - 1] + strlen(words[count - 1]);
    const char *name = last_part(copy[0]);
    memset(words[0], 0, (size_t)(end - words[0]));
    memcpy(words[0], name, strlen(name));
    *end = '.';
    return copy;
}
