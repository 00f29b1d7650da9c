// SPDX-License-Identifier: Apache-2.0
// The `as` that gcc finds first: puts hooks in place of calls of them, and becomes the real one.
//
// When anything is not as expected, the real one gets what we got.
#include "assembler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// --- the real one

static bool is_ours(const char *path) {
    struct stat own, other;
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

// Becomes the first `as` of these folders that is not this program, if there is one.
static void become(const char *folders, char **arguments) {
    char path[PATH_MAX];
    for (const char *at = folders; at && *at;) {
        size_t size = strcspn(at, ":");
        int written = snprintf(path, sizeof path, "%.*s/as", (int)size, at);
        if (written > 0 && (size_t)written < sizeof path && !is_ours(path)) {
            arguments[0] = path;
            execv(path, arguments);
        }
        at += size + (at[size] == ':');
    }
}

// Where gcc looks, and in which order.
static int become_assembler(char **arguments) {
    become(getenv("COMPILER_PATH"), arguments);
    become(getenv("PATH"), arguments);
    fprintf(stderr, "eitherway: there is no assembler `as` in COMPILER_PATH and PATH\n");
    return 127;
}

// --- what it is to read

static bool has_value(const char *option) { // in the next word
    static const char *const options[] = {"-o", "-I", "--MD", "--defsym"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

// Which argument names the file; 0: standard input; -1: it is no call of gcc.
static int find_input(int count, char **arguments) {
    int found = 0;
    for (int i = 1; i < count; i++) {
        const char *word = arguments[i], *end = strrchr(word, '.');
        if (has_value(word))
            i++;
        else if (word[0] == '-' && word[1])
            continue;
        else if (found || !end || strcmp(end, ".s") != 0)
            return -1;
        else
            found = i;
    }
    return found;
}

static struct text read_all(int from) {
    struct text text = {NULL, 0};
    FILE *to = open_memstream(&text.start, &text.size);
    char part[1 << 16];
    ssize_t got = -1;
    while (to && ((got = read(from, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0)
            fwrite(part, 1, (size_t)got, to);
    bool whole = to && fclose(to) == 0 && got == 0;
    return whole ? text : (struct text){NULL, 0};
}

// --- what it gets instead

static bool write_all(int to, struct text text) {
    while (text.size) {
        ssize_t written = write(to, text.start, text.size);
        if (written < 0 && errno != EINTR)
            return false;
        text.start += written > 0 ? written : 0;
        text.size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

// Standard input, from its beginning.
static bool put_in(const char *name, struct text text) {
    int file = memfd_create("compiled", 0);
    char mark[PATH_MAX + 16];
    int size = snprintf(mark, sizeof mark, "# 1 \"%s\"\n", name); // for the assembler's messages
    return file >= 0 && size > 0 && (size_t)size < sizeof mark &&
           write_all(file, (struct text){mark, *name ? (size_t)size : 0}) &&
           write_all(file, text) && lseek(file, 0, SEEK_SET) == 0 && dup2(file, 0) == 0;
}

static bool find_macros(char *path, size_t size) {
    ssize_t length = readlink("/proc/self/exe", path, size);
    char *slash =
        length > 0 && (size_t)length < size - 16 ? memrchr(path, '/', (size_t)length) : NULL;
    if (slash)
        strcpy(slash, "/hooks.s");
    return slash && access(path, R_OK) == 0;
}

static int assemble(int count, char **arguments, int input) {
    static char macros[PATH_MAX];
    const char *name = input ? arguments[input] : "";
    int from = input ? open(name, O_RDONLY | O_CLOEXEC) : 0;
    struct text compiled = from >= 0 ? read_all(from) : (struct text){NULL, 0};
    if (!compiled.start)
        return become_assembler(arguments);
    struct text changed =
        find_macros(macros, sizeof macros) ? with_hooks(compiled) : (struct text){0};
    if (input && !changed.start)
        return become_assembler(arguments);
    char **words = calloc((size_t)count + 3, sizeof *words);
    if (!words || !put_in(name, changed.start ? changed : compiled))
        return fprintf(stderr, "eitherway: no memory for %s\n", name), 1;
    int at = 0;
    for (int i = 0; i < count; i++)
        if (!input || i != input)
            words[at++] = arguments[i];
    if (changed.start)
        words[at++] = macros;
    words[at++] = "/dev/stdin";
    return become_assembler(words);
}

int main(int count, char **arguments) {
    int input = find_input(count, arguments);
    return input < 0 ? become_assembler(arguments) : assemble(count, arguments, input);
}
