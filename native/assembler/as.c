// SPDX-License-Identifier: Apache-2.0
// The `as` that gcc and clang find first: puts hooks in place of calls of them, and becomes the
// real one.
//
// When anything is not as expected, the real one gets what we got.
#include "assembler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

// --- options

// What clang puts before an `as` where the user says -ffile-prefix-map.
static bool is_map(const char *option) {
    return strcmp(option, "--debug-prefix-map") == 0;
}

static bool has_value(const char *option) { // in the next word
    static const char *const options[] = {"-o", "-I", "--MD", "--defsym", "--debug-prefix-map"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

// What an `as` is told goes through clang with a prefix, unless clang knows it itself.
static char *as_told_to_clang(char *word) {
    static const char prefix[] = "-Wa,";
    bool same = word[0] != '-' || !word[1] || has_value(word) || word[1] == 'g' || word[1] == 'I';
    size_t room = sizeof prefix + strlen(word);
    char *told = same ? word : malloc(room);
    if (told && !same)
        snprintf(told, room, "%s%s", prefix, word);
    return told;
}

// --- the real one

// Beside every program of ours lie its macros.
static bool find_macros(const char *program, char path[PATH_MAX]) {
    const char *slash = program ? strrchr(program, '/') : NULL;
    int folder = slash ? (int)(slash - program) : 0;
    int written = slash ? snprintf(path, PATH_MAX, "%.*s/hooks.s", folder, program) : -1;
    return written > 0 && written < PATH_MAX && access(path, R_OK) == 0;
}

// Another installation's is not the real one either: the two would become each other for ever.
static bool is_ours(const char *path) {
    char macros[PATH_MAX];
    return find_macros(path, macros);
}

static void become(const char *path, char **arguments) {
    if (is_ours(path))
        return;
    arguments[0] = (char *)path;
    execv(path, arguments);
}

// Becomes the first `as` of these folders that can run, if there is one.
static void become_first(const char *folders, char **arguments) {
    char path[PATH_MAX];
    for (const char *at = folders; at && *at;) {
        size_t size = strcspn(at, ":");
        int written = snprintf(path, sizeof path, "%.*s/as", size ? (int)size : 1, size ? at : ".");
        if (written > 0 && (size_t)written < sizeof path)
            become(path, arguments);
        at += size + (at[size] == ':');
    }
}

// clang has an assembler of its own, which may know more than the machine's. Left undone where code
// is for another machine, or there is no memory.
static void become_clang(const char *clang, char **arguments) {
    static char *const first[] = {"-c", "-Qunused-arguments", "-x", "assembler"};
    size_t count = 0, at = 1;
    while (arguments[count])
        count++;
    char **words = calloc(count + sizeof first / sizeof *first + 1, sizeof *words);
    if (!words)
        return;
    words[0] = (char *)clang;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        words[at++] = first[i];
    bool is_ours = false, is_value = false, enough = true;
    for (size_t i = 1; i < count; i++) {
        char *word = arguments[i];
        if (strcmp(word, "--64") == 0) { // as clang's are without a word
            is_ours = true;
            continue;
        }
        if (!is_value && is_map(word)) { // it has been done to the text
            i++;
            continue;
        }
        words[at] = is_value ? word : as_told_to_clang(word);
        enough &= words[at++] != NULL;
        is_value = !is_value && has_value(word);
    }
    if (is_ours && enough)
        execv(clang, words);
}

static const char *clang(void) { // NULL: it is gcc that is served
    return getenv("EITHERWAY_CLANG");
}

// The one that gcc would have taken, where `eitherway cc` had to ask for it; else where gcc looks.
static int become_assembler(char **arguments) {
    const char *named = getenv("EITHERWAY_AS");
    if (clang())
        become_clang(clang(), arguments);
    if (named)
        become(named, arguments);
    become_first(getenv("COMPILER_PATH"), arguments);
    become_first(getenv("PATH"), arguments);
    fprintf(stderr, "eitherway: there is no assembler `as` in COMPILER_PATH and PATH\n");
    return 127;
}

// --- what it is to read

// Which argument names the file; 0: standard input; -1: it is no call of a compiler.
static int find_input(int count, char **arguments) {
    int found = 0;
    for (int i = 1; i < count; i++) {
        const char *word = arguments[i], *end = strrchr(word, '.');
        if (has_value(word))
            i++;
        else if (word[0] == '-' && word[1] && strcmp(word, "--") != 0)
            continue;
        else if (found || !end || strcmp(end, ".s") != 0)
            return -1;
        else
            found = i;
    }
    return found;
}

static struct text read_all(int from) {
    struct text text = {0};
    char part[1 << 16];
    ssize_t got;
    bool enough = add_text(&text, "", 0);
    while (enough && ((got = read(from, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)))
        enough = got < 0 || add_text(&text, part, (size_t)got);
    return enough && got == 0 ? text : (struct text){0};
}

// --- what it gets instead

// How the assembler calls it in its messages, from this line on.
static void write_name(int line, const char *name, FILE *to) {
    fprintf(to, "# %d \"", line);
    for (const char *at = name; *at; at++)
        fprintf(to, *at == '"' || *at == '\\' || *at == '\n' ? "\\%03o" : "%c", *at);
    fputs("\"\n", to);
}

// Where vm.memfd_noexec is 2 the kernel refuses a file that could be run; before 6.3 it does not
// know the flag.
static int open_memory(void) {
    int file = memfd_create("compiled", 8 /* MFD_NOEXEC_SEAL */);
    return file < 0 && errno == EINVAL ? memfd_create("compiled", 0) : file;
}

// Standard input, from its beginning. clang reads one file, which has to name another one itself.
static bool put_in(const char *name, const char *macros, struct text text) {
    int file = open_memory();
    FILE *to = file >= 0 ? fdopen(file, "w") : NULL;
    if (!to)
        return false;
    // Behind gcc's first line: once a file has such a name, .file would give it another.
    const char *end = memchr(text.start, '\n', text.size);
    size_t first =
        end && strncmp(text.start, "\t.file\t", 7) == 0 ? (size_t)(end + 1 - text.start) : 0;
    fwrite(text.start, 1, first, to);
    if (macros && clang())
        fprintf(to, ".include \"%s\"\n", macros);
    if (*name)
        write_name(first ? 2 : 1, name, to);
    fwrite(text.start + first, 1, text.size - first, to);
    return fflush(to) == 0 && !ferror(to) && lseek(file, 0, SEEK_SET) == 0 && dup2(file, 0) == 0;
}

// A file can still be read. What came through a pipe may be lost, and a part of it is no program.
static int give_up(char **arguments, int input) {
    if (input)
        return become_assembler(arguments);
    perror("eitherway: what was compiled is lost");
    return 1;
}

static int assemble(int count, char **arguments, int input) {
    static char macros[PATH_MAX];
    const char *name = input ? arguments[input] : "";
    int from = input ? open(name, O_RDONLY | O_CLOEXEC) : 0;
    struct text compiled = from >= 0 ? read_all(from) : (struct text){0};
    if (!compiled.start)
        return give_up(arguments, input);
    // The name that this program was started by: there may be no /proc.
    bool found = find_macros((const char *)getauxval(AT_EXECFN), macros);
    struct text changed = found ? with_hooks(compiled) : (struct text){0};
    const char *added = changed.start ? macros : NULL;
    if (!added && clang())
        changed = with_syntax_set_back(compiled);
    if (input && !changed.start)
        return become_assembler(arguments);
    char **words = calloc((size_t)count + 3, sizeof *words);
    if (!words || !put_in(name, added, changed.start ? changed : compiled))
        return give_up(arguments, input);
    int at = 0;
    for (int i = 0; i < count; i++)
        if (!input || i != input)
            words[at++] = arguments[i];
    if (added && !clang())
        words[at++] = macros;
    words[at++] = "-"; // standard input
    return become_assembler(words);
}

int main(int count, char **arguments) {
    int input = find_input(count, arguments);
    return input < 0 ? become_assembler(arguments) : assemble(count, arguments, input);
}
